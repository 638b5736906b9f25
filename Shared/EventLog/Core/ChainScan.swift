public import EventSchema

/// Reads chains of events outside the loop: for rebuilds, audits, and projections of one's own.
///
/// ```swift
/// let scan = try ChainScan(log, authenticator: authenticator, client: "example")
/// defer { scan.close() }
/// for partition in 0..<scan.partitions(of: .identityEvents) {
///     let partition = TopicPartition(.identityEvents, partition)
///     scan.follow(partition, upTo: try scan.end(of: partition))
/// }
/// while !scan.isDone {
///     for batch in try scan.next(within: .seconds(1)) { … }
/// }
/// ```
/// Belongs to one thread, which blocks in it; only what `wake` gives may be called from any. What is held in memory is one batch,
/// and what the log's client fetches ahead. Where much is to be read, few partitions at a time are read faster than all at once.
///
/// Every call fails with `.truncated` when the log is not the one that was read before, `.unreadable` when a chain goes on under
/// a MAC key that is not held here. An outage is waited out: see `isAvailable`.
public final class ChainScan {
    /// What one look brought of one partition.
    public struct Batch: Sendable {
        public var partition: TopicPartition
        /// Valid events, in the order of their chain.
        public var events: [EventEnvelope] = []
        /// Records that count for nothing, by reason.
        public var void: [ChainReader.Void: Int] = [:]
        /// Events that an event of this batch skips, and that this scan has given before as if they counted.
        public var late: [SkippedEvent] = []
        /// Where reading goes on after this batch: with all that is before it done, a later scan may start here.
        public var position: ChainPosition
        /// Whether this was all there is: up to the offset that was asked for, or up to where the partition ended just now.
        public var isLast = false
    }

    private struct Following {
        var reader: ChainReader
        var since: Timestamp?
        var end: Int64?
        /// Whether it was read to where it ended, since it was interrupted last.
        var wasAtEnd = false
        var isDone: Bool { end.map { reader.position.offset >= $0 && !reader.isRecognising } ?? false }
    }

    public let description: LogDescription
    private let consumer: any LogConsumer
    private let authenticator: RecordAuthenticator
    private var followed: [TopicPartition: Following] = [:]

    /// - Parameter client: names the scan in the log's own diagnostics.
    public init(_ log: any EventLog, authenticator: RecordAuthenticator, client: String) throws(LogError) {
        description = try log.describe()
        self.authenticator = authenticator
        consumer = try log.makeConsumer(client: client, group: nil)
    }

    deinit { close() }

    /// How many partitions the topic has.
    public func partitions(of topic: Topic) -> Int { topic.partitions(of: description.partitions) }

    /// Where the partition ends now: the offset that the next record will get.
    public func end(of partition: TopicPartition) throws(LogError) -> Int64 { try consumer.bounds(of: partition).upperBound }

    /// Where all partitions of these topics end now.
    public func ends(of topics: [Topic]) throws(LogError) -> [TopicPartition: Int64] {
        try consumer.ends(of: topics, partitions: description.partitions)
    }

    /// Starts to read a partition, or starts over.
    ///
    /// - Parameters:
    ///   - position: where a scan before this one was; `nil`: the beginning.
    ///   - since: leaves out events that were appended earlier. They are read nevertheless: whether an event is valid follows
    ///     from all events before it.
    ///   - end: the offset before which reading ends; `nil`: it goes on for ever.
    public func follow(
        _ partition: TopicPartition, from position: ChainPosition? = nil, since: Timestamp? = nil, upTo end: Int64? = nil
    ) {
        let reader = ChainReader(partition, at: position, log: description.id, authenticator: authenticator)
        followed[partition] = Following(reader: reader, since: since, end: end)
        consumer.follow(partition, from: reader.position.start)
        if followed[partition]?.isDone == true { consumer.unfollow(partition) }
    }

    public func unfollow(_ partition: TopicPartition) {
        followed[partition] = nil
        consumer.unfollow(partition)
    }

    /// How far a followed partition is read.
    public func position(of partition: TopicPartition) -> ChainPosition? { followed[partition]?.reader.position }

    /// Whether every followed partition is read up to the offset that was asked for.
    public var isDone: Bool { followed.values.allSatisfy(\.isDone) }

    /// Whether every followed partition was read to its end, since the log was interrupted last: what is known of them is up to
    /// date while the log answers.
    public var isUpToDate: Bool { followed.values.allSatisfy { $0.isDone || $0.wasAtEnd } }

    /// Whether the log answers. While it does not, `next` returns nothing.
    public var isAvailable: Bool { consumer.isAvailable }

    /// Waits until there is something, `timeout` at most. Batches may have neither events nor void records: they tell where a
    /// partition ends.
    public func next(within timeout: Duration) throws(LogError) -> [Batch] {
        if isDone, !followed.isEmpty { return [] }
        var batches: [TopicPartition: Batch] = [:]
        // What the same poll brings of an interrupted partition comes from before.
        var interrupted: Set<TopicPartition> = []
        for event in try consumer.poll(timeout: timeout) {
            switch event {
            case .records(let partition, let records):
                guard !interrupted.contains(partition) else { continue }
                try read(records, of: partition, into: &batches)
            case .reachedEnd(let partition, let end):
                guard !interrupted.contains(partition), let following = followed[partition] else { continue }
                try following.reader.reachedEnd(end)
                followed[partition]?.wasAtEnd = true
                batches[partition, default: Batch(partition: partition, position: following.reader.position)].isLast = true
            case .outOfRange(let partition, let begin, let end):
                guard followed[partition] != nil else { continue }
                throw LogError(
                    .truncated, "\(partition) holds offsets \(begin) to \(end) and was read elsewhere: the log has lost data")
            case .interrupted(let partition):
                guard var following = followed[partition] else { continue }
                interrupted.insert(partition)
                following.reader.interrupted()
                following.wasAtEnd = false
                followed[partition] = following
                consumer.follow(partition, from: following.reader.position.start)
            case .assigned, .revoked: break
            }
        }
        return batches.values.sorted { $0.partition < $1.partition }
    }

    private func read(
        _ records: [Record], of partition: TopicPartition, into batches: inout [TopicPartition: Batch]
    ) throws(LogError) {
        guard var following = followed[partition], !following.isDone else { return }
        var batch = batches[partition] ?? Batch(partition: partition, position: following.reader.position)
        let known = following.reader.late.count
        for record in records {
            if let end = following.end, record.offset >= end { break }
            switch try following.reader.read(record) {
            case .known: break
            case .void(let reason): batch.void[reason, default: 0] += 1
            case .valid(let envelope):
                if following.since.map({ envelope.appended >= $0 }) ?? true { batch.events.append(envelope) }
            }
        }
        followed[partition] = following
        batch.late += following.reader.late.dropFirst(known)
        batch.position = following.reader.position
        if following.isDone {
            batch.isLast = true
            consumer.unfollow(partition)
        }
        batches[partition] = batch
    }

    /// Ends a `next` that waits, from any thread.
    public var wake: @Sendable () -> Void { { [consumer] in consumer.wake() } }

    public func close() { consumer.close() }
}
