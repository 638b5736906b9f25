public import EventSchema

/// What the loop asks of a service: how its records read, and its rules.
///
/// Everything here is synchronous and free of side effects but for `read`, which may open boxes and draw random values, so
/// that `decide` need not.
public protocol PartitionDomain: Sendable {
    /// Names one aggregate; every command and event belongs to exactly one.
    associatedtype Key: Hashable & Sendable
    associatedtype Aggregate: Sendable
    /// A command, or another service's event, in the form that a decision takes.
    associatedtype Input: Sendable
    associatedtype Event: Sendable

    /// Reads a record of an inbox. Called once for each record and owner, in the order of the inbox.
    func read(_ message: InboxMessage) -> Reading<Input>

    func key(of input: Input) -> Key
    func key(of event: Event) -> Key

    /// The aggregate before its first event.
    var initial: Aggregate { get }

    /// The same for every owner that sees the same input, time and aggregate.
    func decide(_ input: Input, at now: Timestamp, given aggregate: Aggregate) -> Decision<Event>

    /// `now` is the time of the decision that led to the event.
    func evolve(_ aggregate: inout Aggregate, with event: Event, at now: Timestamp)

    /// Whether the aggregate has no influence on decisions any more and may be forgotten.
    func isSpent(_ aggregate: Aggregate, at now: Timestamp) -> Bool

    /// The log's clock was ahead and is right again: what the aggregate knows from after `now` is void. Only for states that
    /// are kept in memory; in a projection, each decision leaves it out.
    func forgetFuture(_ aggregate: inout Aggregate, after now: Timestamp)

    func encode(_ event: Event) -> EventBody

    /// Reads an event that this service wrote, now or in an older version. A type that this version does not know stops the
    /// partition: to skip it could decide on a state that others do not share.
    func decode(_ body: EventBody) throws(UnreadableBody) -> Event

    /// Whether this service answers whoever waits for what the record leads to. Commands are, by default; the events of
    /// another service are answered there, unless it leaves the answer to this one; then it is also asked about that service's
    /// `LogRecordType.repeated`.
    func owesAnswer(to message: InboxMessage) -> Bool

    /// What the waiting gateway is told when the event is valid; `nil` where another service owes the answer.
    func answer(to event: Event) -> Answer?

    /// What another service, which owes the answer, has to tell when the event's command comes again, or what it finds the
    /// answer by; `nil` where nobody does.
    func answerElsewhere(to event: Event) -> Answer?

    /// What is told for a refusal (`Decision.refusal`), now or when its command comes again.
    func answer(forRefusal code: String) -> Answer?
}

extension PartitionDomain {
    public func forgetFuture(_ aggregate: inout Aggregate, after now: Timestamp) {}

    public func owesAnswer(to message: InboxMessage) -> Bool { message.isCommand }
    public func answerElsewhere(to event: Event) -> Answer? { nil }
}

/// A record of an inbox: a command, or an event of another service.
public struct InboxMessage: Sendable {
    public var partition: TopicPartition
    public var offset: Int64
    /// When the log appended it; the time of the decision.
    public var time: Timestamp
    public var id: MessageID
    public var type: String
    public var subject: String?
    public var key: [UInt8]
    /// JSON.
    public var data: [UInt8]
    public var traceParent: String?
    public var replyTo: ReplyAddress?
    /// Until when somebody waits for the answer, by the log's clock.
    public var deadline: Timestamp?
    /// For how long the same command may come again.
    public var remember: Interval
    /// Client address and user agent, sealed to Identity.
    public var client: String?
    /// Tells copies of one record from other records with the same id.
    public var fingerprint: [UInt8]
    /// Of an event: the command that led to it.
    public var causation: MessageID? = nil
    /// Whether a command is of no use any more after its deadline. One that follows from
    /// what has happened already stays of use: only its answer is not awaited any more.
    public var isPerishable = true
    public var isCommand: Bool { partition.topic.kind == .commands }
}

public enum Reading<Input: Sendable>: Sendable {
    case input(Input)
    /// None of this service's business (an event it has no use for).
    case ignored
    /// Cannot be decided (a malformed command): counted, not answered.
    case malformed
    /// Written by a newer version: the partition is given up, loudly.
    case unknownType
}

public enum Decision<Event: Sendable>: Sendable {
    /// The one event that says everything that happened.
    case event(Event)
    /// Nothing happened, and the waiting gateway is told what `answer(forRefusal:)` makes of the code. A code is made of
    /// lower-case letters, digits and hyphens.
    case refusal(String)
    /// Nothing happened and nobody waits.
    case nothing
}

/// The content of an event, apart from its place in the log.
public struct EventBody: Hashable, Sendable {
    /// Explicit and versioned: `latchkey.verification.code-issued.v1`.
    public var type: String
    public var subject: String?
    /// JSON.
    public var data: [UInt8]

    public init(type: String, subject: String?, data: [UInt8]) {
        self.type = type
        self.subject = subject
        self.data = data
    }
}

/// The content of a reply record (JSON), encoded by `EventSchema.Reply`.
public struct Answer: Hashable, Sendable {
    public var data: [UInt8]

    public init(data: [UInt8]) { self.data = data }
}

public struct UnreadableBody: Error, Hashable, Sendable {
    public var type: String
    public var reason: String

    public init(type: String, reason: String) {
        self.type = type
        self.reason = reason
    }
}
