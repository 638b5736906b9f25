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
    private let inboxes: [Topic]
    private let status: @Sendable () -> LoopStatus

    /// - Parameter schema: a trusted name.
    public init(
        log: any EventLog, schema: String, database: PostgresConnection.Configuration, settings: LoopSettings,
        status: @escaping @Sendable () -> LoopStatus
    ) {
        self.log = log
        self.schema = schema
        self.database = database
        inboxes = settings.inboxes
        self.status = status
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
        for topic in inboxes {
            for partition in 0..<topic.partitions(of: count) {
                let partition = TopicPartition(topic, partition)
                // What retention has removed, nobody can read any more.
                let read = max(marks[partition] ?? 0, try consumer.bounds(of: partition).lowerBound)
                if try consumer.offset(of: partition, at: time) > read { return false }
            }
        }
        return true
    }

    /// Writes down what this instance knows, and returns what all of them know.
    func exchange() throws(PostgresError) -> [TopicPartition: Int64] {
        var own: [(partition: TopicPartition, offset: Int64)] = []
        for (partition, shown) in status().partitions {
            guard let positions = shown.inboxes else { continue }
            for topic in inboxes { own.append((TopicPartition(topic, partition), positions.offset(of: topic))) }
        }
        own.sort { $0.partition < $1.partition }
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        let rows = try connection.batch([
            """
            INSERT INTO \(unsafe: schema).inboxes AS mark (topic, partition, next_offset)
            SELECT * FROM unnest(\(own.map(\.partition.topic.rawValue)), \(own.map { Int32($0.partition.partition) }),
                \(own.map(\.offset)))
            ON CONFLICT (topic, partition) DO UPDATE SET next_offset = greatest(mark.next_offset, excluded.next_offset)
            """,
            "SELECT topic, partition::int8, next_offset FROM \(unsafe: schema).inboxes",
        ])
        var marks: [TopicPartition: Int64] = [:]
        for (topic, partition, offset) in try rows[1].decode(String.self, Int.self, Int64.self) {
            if let topic = Topic(rawValue: topic) { marks[TopicPartition(topic, partition)] = offset }
        }
        return marks
    }
}
