import EventLog
import EventSchema

/// Polls a consumer and keeps what it saw.
final class Reader {
    struct OutOfRange: Equatable {
        var partition: TopicPartition
        var bounds: Range<Int64>
    }

    /// What a test waited for did not come.
    struct Timeout: Error {}

    let consumer: any LogConsumer
    private(set) var records: [TopicPartition: [Record]] = [:]
    private(set) var ends: [TopicPartition: [Int64]] = [:]
    private(set) var outOfRange: [OutOfRange] = []
    private(set) var interrupted: [TopicPartition] = []
    /// The partitions of the group's topic that this member has.
    private(set) var owned: Set<Int> = []
    /// How often it was given partitions, and how often some were taken.
    private(set) var (assignments, revocations) = (0, 0)

    init(_ consumer: any LogConsumer) { self.consumer = consumer }

    deinit { consumer.close() }

    func count(_ partition: TopicPartition) -> Int { records[partition]?.count ?? 0 }
    var total: Int { records.values.reduce(0) { $0 + $1.count } }

    func poll(timeout: Duration = .milliseconds(100)) throws {
        for event in try consumer.poll(timeout: timeout) {
            switch event {
            case .records(let partition, let new): records[partition, default: []] += new
            case .reachedEnd(let partition, let end): ends[partition, default: []].append(end)
            case .outOfRange(let partition, let begin, let end):
                outOfRange.append(OutOfRange(partition: partition, bounds: begin..<end))
            case .interrupted(let partition): interrupted.append(partition)
            case .assigned(let partitions):
                assignments += 1
                owned.formUnion(partitions)
            case .revoked(let partitions):
                revocations += 1
                owned.subtract(partitions)
            }
        }
    }

    /// Polls until the reader has seen what is wanted. The limit is there to end a test that would never end.
    func poll(within limit: Duration = .seconds(30), until isDone: (Reader) -> Bool) throws {
        let deadline = ContinuousClock.now + limit
        while !isDone(self) {
            guard ContinuousClock.now < deadline else { throw Timeout() }
            try poll()
        }
    }

    /// Reads a partition from an offset up to its end of now.
    func read(_ partition: TopicPartition, from offset: Int64 = 0) throws -> [Record] {
        records[partition] = []
        let end = try consumer.bounds(of: partition).upperBound
        consumer.follow(partition, from: offset)
        try poll { $0.records[partition]?.last.map { $0.offset + 1 } ?? offset >= end }
        consumer.unfollow(partition)
        return records[partition] ?? []
    }
}

extension EventLog {
    func reader(_ client: String = "reader", group: ConsumerGroup? = nil) throws -> Reader {
        Reader(try makeConsumer(client: client, group: group))
    }
}
