public import EventLog
public import EventSchema
public import Postgres
public import Runtime
internal import Synchronization

/// Between the loop and the providers: takes confirmed attempts, has them delivered on the providers' threads, and tells the
/// loop how they ended and which retries are due.
public final class DeliveryDesk: Component {
    /// What the desk needs of the loop that it works for.
    public struct Loop: Sendable {
        /// The name that this process writes its records under.
        public var writer: String
        /// The log's time, as soon as it is known.
        public var now: @Sendable () -> Timestamp?
        public var submit: @Sendable (DeliveryPartition.Input, _ partition: Int) -> Void

        public init(
            writer: String, now: @escaping @Sendable () -> Timestamp?,
            submit: @escaping @Sendable (DeliveryPartition.Input, _ partition: Int) -> Void
        ) {
            self.writer = writer
            self.now = now
            self.submit = submit
        }
    }

    /// What other threads leave for the desk's.
    enum Mail: Sendable {
        case happened(DeliveryEvent, partition: Int, writer: String)
        case tookOver([Int])
        case released([Int])
        case verdict(ProviderLine.Verdict, DeliveryAttempted, isRepeat: Bool)
    }

    public let name = "deliveries"
    /// What waits for a provider when the service is stopped is still delivered.
    public let drainDeadline: Duration = .seconds(15)

    let tables: DeliveryTables
    let database: PostgresConnection.Configuration
    let providers: [any Provider]
    let composer: MessageComposer
    let logger: Logger
    let metrics: DeliveryMetrics
    let mail = Mailbox<Mail>()
    /// Attempts that wait for a provider, for metrics.
    let waiting: Waiting
    private let loop = Mutex<Loop?>(nil)

    final class Waiting: Sendable {
        private let value = Atomic<Int>(0)
        var count: Int { value.load(ordering: .relaxed) }
        func set(_ count: Int) { value.store(count, ordering: .relaxed) }
    }

    public init(
        tables: DeliveryTables, database: PostgresConnection.Configuration, providers: [any Provider], composer: MessageComposer,
        context: ServiceContext
    ) {
        self.tables = tables
        self.database = database
        self.providers = providers
        self.composer = composer
        logger = context.logger
        waiting = Waiting()
        metrics = DeliveryMetrics(context) { [waiting] in waiting.count }
    }

    /// Names the loop that the desk works for; before `run`.
    public func serve(_ loop: Loop) { self.loop.withLock { $0 = loop } }

    // MARK: From the loop's thread

    public func happened(_ confirmed: ConfirmedEvent<DeliveryEvent>, isOwner: Bool) {
        guard isOwner, let event = confirmed.event else { return }
        mail.send(
            .happened(event, partition: confirmed.envelope.partition.partition, writer: confirmed.envelope.writer))
    }

    public func noticed(_ notice: LoopNotice) {
        switch notice {
        case .tookOver(let partitions): mail.send(.tookOver(partitions))
        case .released(let partitions): mail.send(.released(partitions))
        case .readsFromBeginning, .gaveUp, .skippedLate, .waits, .resumes: break
        }
    }

    // MARK: Running

    public func run() async throws {
        guard let loop = loop.withLock({ $0 }) else { preconditionFailure("a desk serves a loop") }
        let mail = mail
        let work: @Sendable (StopFlag) -> Void = { [self] stop in
            var session = DeskSession(desk: self, loop: loop)
            session.run(until: stop)
        }
        try await WorkerThread(name: "deliveries", wake: { mail.wake() }, work).run()
    }
}
