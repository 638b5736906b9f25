import Crypto
public import EventLog
public import EventSchema
import Runtime

/// Stands in for a service: appends to its events whatever a test asks for, through a loop of its own, so that the events are
/// valid, and readers cannot tell them from the service's.
public final class EventRelay: Sendable {
    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let inbox: Topic
    private let partitions: Int
    private let producer: any LogProducer
    private let driver: LoopDriver<NoProjection<RelayDomain>>
    private let thread: WorkerThread

    /// Keys of a log in tests.
    public static func authenticator() throws(LogError) -> RecordAuthenticator {
        try RecordAuthenticator(keys: [1: Secret([UInt8](repeating: 7, count: 32))])
    }

    /// Starts to relay. `inbox` is a topic of commands of the service.
    public init(
        on log: any EventLog, as service: ServiceName, inbox: Topic, events: Topic, authenticator: RecordAuthenticator
    ) throws(LogError) {
        self.log = log
        self.authenticator = authenticator
        self.inbox = inbox
        partitions = try log.describe().partitions
        producer = try log.makeProducer(client: "relay")
        let settings = LoopSettings(service: service, storage: .memory(window: .hours(1)), inboxes: [inbox], events: events)
        let driver = LoopDriver(
            log: log, domain: RelayDomain(), settings: settings, authenticator: authenticator, store: NoProjection(),
            writer: MessageID.random().text, notice: { _ in })
        self.driver = driver
        let work: @Sendable (StopFlag) throws -> Void = { _ in try driver.run() }
        thread = WorkerThread(name: "relay", wake: { driver.stop() }, work)
        thread.start()
    }

    deinit { stop() }

    public func stop() {
        thread.stop.raise()
        _ = thread.join(within: .seconds(10))
    }

    /// Has a message stand among the service's events soon. `replyTo` waits for what follows from it, for `budget`.
    public func emit(
        _ message: some Message, about subject: Subject, replyTo: ReplyAddress? = nil, budget: Interval = .seconds(10)
    ) {
        let encoded = SchemaCodec.current.encode(message)
        var headers = [
            Header(HeaderName.id, MessageID.random().text), Header(HeaderName.type, encoded.type),
            Header(HeaderName.subject, subject.base64url), Header(HeaderName.budget, String(budget.milliseconds)),
        ]
        if let replyTo { headers.append(Header(HeaderName.replyTo, replyTo.encoded)) }
        let key = subject.routingKey
        let record = OutgoingRecord(
            partition: TopicPartition(inbox, key.partition(among: partitions)), key: key.bytes, headers: headers,
            value: encoded.data)
        producer.append(authenticator.sealed(record)) { _ in }
    }
}

/// Every command becomes the event that it says.
public struct RelayDomain: PartitionDomain {
    public init() {}

    public func read(_ message: InboxMessage) -> Reading<EventBody> {
        .input(EventBody(type: message.type, subject: message.subject, data: message.data))
    }

    public func key(of body: EventBody) -> String { body.subject ?? "" }
    public var initial: Int { 0 }
    public func decide(_ input: EventBody, at now: Timestamp, given aggregate: Int) -> Decision<EventBody> { .event(input) }
    public func evolve(_ aggregate: inout Int, with event: EventBody, at now: Timestamp) {}
    public func isSpent(_ aggregate: Int, at now: Timestamp) -> Bool { true }
    public func encode(_ event: EventBody) -> EventBody { event }
    public func decode(_ body: EventBody) throws(UnreadableBody) -> EventBody { body }
    public func answer(to event: EventBody) -> Answer? { nil }
    public func answer(forRefusal code: String) -> Answer? { nil }
}
