public import EventLog
public import EventSchema
public import Postgres

/// How far all instances of a service have read its inboxes for good, in the table `inboxes` of its schema: what tells when a
/// sealing key has seen its last use.
///
/// Each instance writes down how far it is with the partitions that it owns. A mark never moves back.
public struct InboxMarks: Sendable {
    private let log: any EventLog
    private let schema: String
    private let database: PostgresConnection.Configuration
    private let readers: [Reader]

    /// One of those in each instance that read inboxes, each at a pace of its own.
    public struct Reader: Sendable {
        /// Tells its marks from those of others; empty for the loop.
        var name: String
        var topics: [Topic]
        /// The next offset, of the partitions that this instance reads.
        var offsets: @Sendable () -> [TopicPartition: Int64]

        public init(name: String, topics: [Topic], offsets: @escaping @Sendable () -> [TopicPartition: Int64]) {
            self.name = name
            self.topics = topics
            self.offsets = offsets
        }

        init(_ topics: [Topic], _ status: @escaping @Sendable () -> LoopStatus) {
            self.init(name: "", topics: topics) {
                var offsets: [TopicPartition: Int64] = [:]
                for (partition, shown) in status().partitions {
                    guard let positions = shown.inboxes else { continue }
                    for topic in topics { offsets[TopicPartition(topic, partition)] = positions.offset(of: topic) }
                }
                return offsets
            }
        }

        func mark(of topic: Topic) -> String { name.isEmpty ? topic.rawValue : "\(name)/\(topic.rawValue)" }
    }

    /// Where the row of a mark is.
    struct Place: Hashable, Comparable {
        var mark: String
        var partition: Int

        static func < (left: Place, right: Place) -> Bool { (left.mark, left.partition) < (right.mark, right.partition) }
    }

    /// - Parameters:
    ///   - schema: a trusted name.
    ///   - others: who reads beside the loop.
    public init(
        log: any EventLog, schema: String, database: PostgresConnection.Configuration, settings: LoopSettings,
        status: @escaping @Sendable () -> LoopStatus, others: [Reader] = []
    ) {
        self.log = log
        self.schema = schema
        self.database = database
        readers = [Reader(settings.inboxes, status)] + others
    }

    /// Whether every inbox, in all partitions, has been read past what was appended before `time`, by the log's clock. Blocks.
    /// Where it cannot be told now, it has not.
    public func areRead(past time: Timestamp) -> Bool {
        (try? look(past: time)) ?? false
    }

    private func look(past time: Timestamp) throws -> Bool {
        let marks = try exchange()
        let count = try log.describe().partitions
        let consumer = try log.makeConsumer(client: "inbox-marks", group: nil)
        defer { consumer.close() }
        for reader in readers {
            for topic in reader.topics {
                for number in 0..<topic.partitions(of: count) {
                    let partition = TopicPartition(topic, number)
                    // What retention has removed, nobody can read any more.
                    let read = max(
                        marks[Place(mark: reader.mark(of: topic), partition: number)] ?? 0,
                        try consumer.bounds(of: partition).lowerBound)
                    if try consumer.offset(of: partition, at: time) > read { return false }
                }
            }
        }
        return true
    }

    /// Writes down what this instance knows, and returns what all of them know.
    func exchange() throws(PostgresError) -> [Place: Int64] {
        var own: [(place: Place, offset: Int64)] = []
        for reader in readers {
            for (partition, offset) in reader.offsets() {
                own.append((Place(mark: reader.mark(of: partition.topic), partition: partition.partition), offset))
            }
        }
        own.sort { $0.place < $1.place }
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        let rows = try connection.batch([
            """
            INSERT INTO \(unsafe: schema).inboxes AS mark (topic, partition, next_offset)
            SELECT * FROM unnest(\(own.map(\.place.mark)), \(own.map { Int32($0.place.partition) }), \(own.map(\.offset)))
            ON CONFLICT (topic, partition) DO UPDATE SET next_offset = greatest(mark.next_offset, excluded.next_offset)
            """,
            "SELECT topic, partition::int8, next_offset FROM \(unsafe: schema).inboxes",
        ])
        var marks: [Place: Int64] = [:]
        for (mark, partition, offset) in try rows[1].decode(String.self, Int.self, Int64.self) {
            marks[Place(mark: mark, partition: partition)] = offset
        }
        return marks
    }
}
