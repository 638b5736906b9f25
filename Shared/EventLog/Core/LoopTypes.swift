public import EventSchema

/// What a loop needs to know beside its domain.
public struct LoopSettings: Sendable {
    /// Where the state for decisions is kept.
    public enum Storage: Sendable {
        /// In memory, folded from the events of the last `window`; all partitions are followed, some are owned.
        case memory(window: Interval)
        /// In a projection, from which each batch loads what it needs.
        case projection
    }

    public var service: ServiceName
    public var storage: Storage
    /// The topics that decisions take their inputs from.
    public var inboxes: [Topic]
    /// The service's own events.
    public var events: Topic
    /// How many events may be on their way at once, and how many inputs one batch of a projection takes. Never more than
    /// `mostPending`.
    public var window: Int = 256 {
        didSet { precondition(window <= Self.mostPending, "so many events are never on their way at once") }
    }
    /// In no release has an owner more events of a partition on their way: auditors go by that.
    public static let mostPending = 512
    /// How many inputs of a partition may be open before its inboxes are not read on.
    public var longestQueue = 4_096
    /// The longest time that anybody waits for an answer.
    public var longestBudget: Interval = .seconds(10)
    /// How late a copy of a record may follow it (a producer that repeats what it is not sure of).
    public var duplicateWindow: Interval = .seconds(5)
    /// After so many refusals without an event, an event is written to name them.
    public var refusalsPerEvent = 64
    /// After so many inputs that led to nothing, an event is written to pass them, so that no start reads them again.
    public var passedPerEvent = 10_000
    /// How long records of an inbox wait, at least, before they are taken. For a service that answers nobody: what it does with
    /// an event, or leaves undone, must not slow down the answer that others give about it.
    public var hold: Interval = .zero
    /// The longest random wait after another owner's event.
    public var longestWait: Interval = .milliseconds(64)
    /// An event that was appended and is not read back in this time may have been lost, acknowledged or not.
    var longestReadingBack: Interval { .milliseconds(longestBudget.milliseconds / 2) }

    public init(service: ServiceName, storage: Storage, inboxes: [Topic], events: Topic) {
        self.service = service
        self.storage = storage
        self.inboxes = inboxes
        self.events = events
    }
}

/// Names one append of one speculation, or the probe (0) with which it asks for the time.
public struct AppendToken: Hashable, Sendable {
    public var speculation: UInt64
    public var sequence: Int64
}

/// A valid event, read back.
public struct ConfirmedEvent<Event: Sendable>: Sendable {
    /// `nil` for events of the log itself.
    public var event: Event?
    public var envelope: EventEnvelope
    /// The chain's position behind it.
    public var position: ChainPosition
}

/// Where a projection stands.
public struct Checkpoint: Hashable, Sendable {
    /// Everything before it is projected.
    public var position: ChainPosition
    /// From here on, somebody may still wait for an answer.
    public var answersFrom: ChainPosition

    public init(position: ChainPosition, answersFrom: ChainPosition) {
        self.position = position
        self.answersFrom = answersFrom
    }
}

/// What one batch of decisions reads.
public struct LoadRequest<Key: Hashable & Sendable>: Sendable {
    public var keys: [Key]
    /// Commands whose earlier outcome matters, if the projection knows one.
    public var commands: [MessageID]

    public init(keys: [Key], commands: [MessageID] = []) {
        self.keys = keys
        self.commands = commands
    }
}

public struct LoadedBatch<Key: Hashable & Sendable, Aggregate: Sendable>: Sendable {
    /// Keys without a row may be absent.
    public var aggregates: [Key: Aggregate]
    public var known: [MessageID: CommandOutcome]

    public init(aggregates: [Key: Aggregate], known: [MessageID: CommandOutcome] = [:]) {
        self.aggregates = aggregates
        self.known = known
    }
}

/// Events to project together with the checkpoint behind them.
public struct ProjectionBatch<Event: Sendable>: Sendable {
    /// The position that the stored checkpoint must have; `nil`: there must be none.
    public var from: ChainPosition?
    public var to: Checkpoint
    public var events: [ConfirmedEvent<Event>]

    public init(from: ChainPosition?, to: Checkpoint, events: [ConfirmedEvent<Event>]) {
        self.from = from
        self.to = to
        self.events = events
    }
}

public enum ProjectionOutcome: Sendable {
    case projected
    /// The stored checkpoint was another one, and nothing was projected.
    case conflict(Checkpoint?)
}

public enum LoopInput<Domain: PartitionDomain>: Sendable {
    /// The group gave the partition to this instance. `end` is where its own events end now.
    case tookOver(end: Int64, committed: CommittedOffset?)
    /// The group took it away.
    case released
    case record(Record)
    case reachedEnd(TopicPartition, end: Int64)
    case outOfRange(TopicPartition, begin: Int64, end: Int64)
    case interrupted(TopicPartition)
    case appended(AppendToken, Appended)
    case failed(AppendToken)
    case loaded(LoadedBatch<Domain.Key, Domain.Aggregate>)
    case projected(ProjectionOutcome)
    /// Something that no record asks for: a timer, the outcome of a delivery.
    case submit(Domain.Input)
    case tick
}

public enum LoopAction<Domain: PartitionDomain>: Sendable {
    case append(OutgoingRecord, AppendToken)
    case reply(OutgoingRecord)
    case follow(TopicPartition, from: Int64)
    case unfollow(TopicPartition)
    case load(LoadRequest<Domain.Key>)
    case project(ProjectionBatch<Domain.Event>)
    /// A valid event has taken effect here: it is folded, or projected.
    case happened(ConfirmedEvent<Domain.Event>)
    /// Nothing will happen before this instant unless an input comes.
    case wake(LocalInstant)
}

/// What a loop did since it was made.
public struct LoopCounters: Hashable, Sendable {
    public var valid = 0
    public var void = 0
    public var foreign = 0
    public var decided = 0
    public var refused = 0
    public var expired = 0
    public var malformed = 0
    public var repeated = 0
    public var dropped = 0
    public var passed = 0
    public var answered = 0
    public var late = 0

    mutating func add(_ other: LoopCounters) {
        valid += other.valid
        void += other.void
        foreign += other.foreign
        decided += other.decided
        refused += other.refused
        expired += other.expired
        malformed += other.malformed
        repeated += other.repeated
        dropped += other.dropped
        passed += other.passed
        answered += other.answered
        late += other.late
    }
}
