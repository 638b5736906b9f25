public import EventSchema

/// A log of partitioned topics, as Kafka is one. Every implementation passes the same contract suite.
///
/// Everything here blocks, or is called back on a thread of the implementation: it is used from threads that Latchkey
/// owns, never from Swift's cooperative pool.
public protocol EventLog: Sendable {
    /// What the log says of itself. Fails with `.notProvisioned` where a topic is missing and with `.misconfigured` where
    /// partition counts differ from each other, or a topic keeps times that are not the log's.
    func describe() throws(LogError) -> LogDescription

    /// A producer of this process. `client` names it in the log's own diagnostics.
    func makeProducer(client: String) throws(LogError) -> any LogProducer

    /// A reader. With a `group`, its members share the partitions of the group's topic.
    func makeConsumer(client: String, group: ConsumerGroup?) throws(LogError) -> any LogConsumer
}

public struct LogDescription: Hashable, Sendable {
    /// Drawn when the log was provisioned; the first event of every chain names it.
    public var id: [UInt8]
    /// The number of partitions of every topic but `keys`.
    public var partitions: Int

    public init(id: [UInt8], partitions: Int) {
        self.id = id
        self.partitions = partitions
    }
}

/// Members with the same name share the partitions of `topic`.
public struct ConsumerGroup: Hashable, Sendable {
    public var name: String
    public var topic: Topic

    public init(name: String, topic: Topic) {
        self.name = name
        self.topic = topic
    }
}

/// Where a record came to stand.
public struct Appended: Hashable, Sendable {
    public var offset: Int64
    /// The log's append time, from which services learn the log's clock.
    public var time: Timestamp

    public init(offset: Int64, time: Timestamp) {
        self.offset = offset
        self.time = time
    }
}

public protocol LogProducer: AnyObject, Sendable {
    /// Queues a record and returns at once. Records of one partition are appended in the order of the calls, except that
    /// any of them may fail. `completion` is called exactly once, on a thread of the implementation, after the record is as
    /// durable as its topic asks for (events: fully), or with an error after a few seconds; after an error the record may
    /// still appear in the log, even later.
    func append(_ record: OutgoingRecord, completion: @escaping @Sendable (Result<Appended, LogError>) -> Void)

    /// Waits until every queued record is completed, or the time is over. Returns whether all were.
    @discardableResult
    func flush(within: Duration) -> Bool

    /// Fails what is still queued and ends the producer's threads.
    func close()
}

/// What a consumer saw in one poll. Records of a partition come in the order of their offsets, each once per `follow`.
public enum LogEvent: Sendable {
    /// The group gave these partitions to this member, which now follows what it needs of them.
    case assigned([Int])
    /// The group took these partitions away, or this member lost them. The consumer no longer follows the group's topic
    /// there; other topics it follows until `unfollow`.
    case revoked([Int])
    case records(TopicPartition, [Record])
    /// Everything before `end` has been delivered; the partition ended there when it was last fetched.
    case reachedEnd(TopicPartition, end: Int64)
    /// The partition has no such offset: it ends before it (`begin ... end` is what it has), or retention has removed it.
    case outOfRange(TopicPartition, begin: Int64, end: Int64)
    /// The leader changed or fetching failed and goes on: what was read before must be looked at again (follow from the head).
    /// What else the same poll brings of the partition comes from before.
    case interrupted(TopicPartition)
}

/// A position of a consumer group: the next offset to read, and the chain's position at it.
public struct CommittedOffset: Hashable, Sendable {
    public var offset: Int64
    public var metadata: String

    public init(offset: Int64, metadata: String) {
        self.offset = offset
        self.metadata = metadata
    }
}

/// Used from one thread, except for `wake`.
public protocol LogConsumer: AnyObject, Sendable {
    /// Waits until something happened, at most `timeout`. Throws only what ends the consumer; an outage that may pass is
    /// waited out inside (`isAvailable` says so).
    func poll(timeout: Duration) throws(LogError) -> [LogEvent]

    /// Whether the last fetches succeeded. While it is false the log is away.
    var isAvailable: Bool { get }

    /// Starts delivering a partition from an offset, or moves there if it is followed already.
    func follow(_ partition: TopicPartition, from offset: Int64)

    /// Stops delivering a partition.
    func unfollow(_ partition: TopicPartition)

    /// The first offset that exists, and the one that the next record will get.
    func bounds(of partition: TopicPartition) throws(LogError) -> Range<Int64>

    /// The first offset whose record was appended at or after `time`; the end if there is none.
    func offset(of partition: TopicPartition, at time: Timestamp) throws(LogError) -> Int64

    /// The group's committed positions, for those partitions that have one.
    func committed(_ partitions: [TopicPartition]) throws(LogError) -> [TopicPartition: CommittedOffset]

    /// Stores positions for the group. They only save time at the next start: a failure is not an error.
    func commit(_ offsets: [TopicPartition: CommittedOffset])

    /// Ends a `poll` that waits, from any thread.
    func wake()

    /// Leaves the group and ends the consumer's threads.
    func close()
}
