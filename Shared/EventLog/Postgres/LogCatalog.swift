import EventLog
import EventSchema
import Postgres

/// What the log's tables say of its topics: read once, then kept, since it never changes in place.
struct LogCatalog: Sendable {
    var description: LogDescription
    var ids: [Topic: Int16]

    /// Fails with `.notProvisioned` where a topic is missing and with `.misconfigured` where its partitions are not as many
    /// as they must be.
    static func load(over connection: PostgresConnection) throws(LogError) -> LogCatalog {
        do {
            let results = try connection.batch([
                "SELECT id, partitions FROM log.description",
                """
                SELECT t.name, t.id, t.retention, count(p.partition), coalesce(max(p.partition), -1)::int8
                FROM log.topics AS t LEFT JOIN log.partitions AS p ON p.topic = t.id GROUP BY t.id
                """,
            ])
            guard let (id, partitions) = try results[0].decode([UInt8].self, Int.self).first else {
                throw LogError(.notProvisioned, "the log has no description")
            }
            let rows = try results[1].decode(String.self, Int16.self, Int64?.self, Int.self, Int.self)
            return try LogCatalog(description: LogDescription(id: id, partitions: partitions), rows: rows)
        } catch let error as PostgresError {
            throw LogError(error)
        } catch let error as LogError {
            throw error
        } catch {
            throw LogError(.closed, "\(error)")
        }
    }

    private init(
        description: LogDescription, rows: [(name: String, id: Int16, retention: Int64?, partitions: Int, last: Int)]
    ) throws(LogError) {
        self.description = description
        ids = [:]
        for row in rows {
            guard let topic = Topic(rawValue: row.name) else { continue }
            let wanted = topic.partitions(of: description.partitions)
            guard row.partitions == wanted, row.last == wanted - 1 else {
                throw LogError(.misconfigured, "\(row.name) has \(row.partitions) partitions, not \(wanted)")
            }
            guard (row.retention == nil) == topic.isLasting else {
                throw LogError(.misconfigured, "the retention of \(row.name) is that of another kind of topic")
            }
            ids[topic] = row.id
        }
        if let missing = Topic.allCases.first(where: { ids[$0] == nil }) {
            throw LogError(.notProvisioned, "the topic \(missing.rawValue) is missing")
        }
    }

    func id(_ topic: Topic) -> Int16 { ids[topic] ?? -1 }
}

extension Topic {
    /// Whether its records stay for ever, and are fully durable before they are acknowledged.
    var isLasting: Bool {
        switch kind {
        case .events, .keys: true
        case .commands, .replies: false
        }
    }

    var retentionMilliseconds: Int64? { isLasting ? nil : 3_600_000 }
}

extension LogError {
    /// What an error of Postgres means for the log.
    init(_ error: PostgresError) {
        let code: LogError.Code
        switch (error.code, error.state) {
        case (.refused, .undefinedTable), (.refused, .invalidSchema), (.refused, .undefinedFunction): code = .notProvisioned
        case (.refused, .insufficientPrivilege), (.misconfigured, _), (.migration, _): code = .misconfigured
        default: code = error.isRetriable ? .unavailable : .closed
        }
        self.init(code, error.description)
    }
}
