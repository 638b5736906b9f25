public import EventSchema

/// What a driver has to say to the operator.
public enum LoopNotice: Sendable {
    case tookOver([Int])
    case released([Int])
    /// No position was committed for these partitions: their events are read from the beginning.
    case readsFromBeginning([Int])
    /// The partition is not decided on any more until the process starts again, and why.
    case gaveUp(TopicPartition, LogError)
    /// The event was projected, here or elsewhere, before it was known that it is skipped: a rebuild makes the projection right.
    case skippedLate(SkippedEvent)
    /// The log or the projection is away; work goes on when it is back.
    case waits(LogError)
    case resumes
}

/// What a driver shows of one partition.
public struct PartitionStatus: Sendable {
    public var counters = LoopCounters()
    /// The MAC key under which the next own event is written.
    public var macKey: UInt32 = 1
    /// The last own event that took effect where decisions look for it.
    public var settledSequence: Int64 = 0
    /// How far the inboxes are read for good: the outcome of everything before is certain. `nil` where another instance, or
    /// nobody, reads them.
    public var inboxes: InboxPositions?
    /// Inputs that were read and are not decided yet.
    public var open = 0

    public init() {}
}

/// What a driver shows to health checks and metrics.
public struct LoopStatus: Sendable {
    /// Whether the log answers.
    public var isAvailable = false
    /// Whether the state that decisions need has been read.
    public var hasStarted = false
    /// Partitions that this instance decides, and those of them that it has caught up with.
    public var owned: Set<Int> = []
    public var ready: Set<Int> = []
    public var gaveUp: [Int: LogError] = [:]
    public var counters = LoopCounters()
    /// Next offset and head sequence of the own events, by partition.
    public var positions: [Int: (offset: Int64, sequence: Int64)] = [:]
    public var appendFailures = 0
    /// What is known of each partition that is followed here.
    public var partitions: [Int: PartitionStatus] = [:]
    /// The log's clock, as it was learnt last.
    var clock = LogClock()

    public init() {}
}
