import Postgres

/// Deletes records past their retention, a few at a time.
struct Expiry {
    /// When there is something to do again.
    var nextLook: ContinuousClock.Instant
    private var due: [(topic: Int16, partition: Int16)] = []

    init(nextLook: ContinuousClock.Instant) { self.nextLook = nextLook }

    /// One short transaction, where it is time for one.
    mutating func step(over connection: PostgresConnection, every interval: Duration, most: Int32) throws(PostgresError) {
        guard ContinuousClock.now >= nextLook else { return }
        if due.isEmpty { due = try Self.find(over: connection) }
        if let (topic, partition) = due.last {
            let deleted = try connection.query("SELECT log.expire(\(topic), \(partition), \(most))").column(Int32.self).first ?? 0
            if deleted < most { due.removeLast() }
        }
        // Several processes do this; they should not do it in step.
        if due.isEmpty { nextLook = .now + interval * Double.random(in: 0.7...1) }
    }

    private static func find(over connection: PostgresConnection) throws(PostgresError) -> [(topic: Int16, partition: Int16)] {
        try connection.query(
            """
            SELECT p.topic, p.partition
            FROM log.topics AS t JOIN log.partitions AS p ON p.topic = t.id
            WHERE t.retention IS NOT NULL AND EXISTS (
                SELECT FROM log.passing_records AS r
                WHERE r.topic = p.topic AND r.partition = p.partition AND r."offset" = p.first_offset
                    AND r.time < log.milliseconds() - t.retention)
            """
        ).decode(Int16.self, Int16.self).map { (topic: $0.0, partition: $0.1) }
    }
}
