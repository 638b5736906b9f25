public import EventLog
import EventSchema
import Postgres
import Synchronization

/// The log in tables of one Postgres: the same semantics as Kafka, for trying Latchkey and for running it small.
///
/// Events are durable before they are acknowledged; commands and replies may be lost with the server's last half second, as
/// their commits are asynchronous. A process has one connection for announcements, two for its producers, and one for each
/// consumer.
public final class PostgresLog: EventLog {
    public struct Configuration: Sendable {
        /// libpq's keywords and values, or a URI.
        public var connectionString: String
        /// How often a consumer looks for records that nobody announced (the announcement may be lost with its sender).
        public var lookInterval: Duration = .milliseconds(500)
        /// How often a member of a group says that it lives. It says so in `poll`.
        public var heartbeatInterval: Duration = .seconds(1)
        /// After this time without a heartbeat a member is out of its group.
        public var memberLifetime: Duration = .seconds(5)
        /// How long one round trip may take before the server counts as away.
        public var patience: Duration = .seconds(4)
        /// How often records past their retention are looked for.
        public var retentionInterval: Duration = .seconds(15)

        public init(_ connectionString: String) { self.connectionString = connectionString }
    }

    public let configuration: Configuration
    let bulletin: LogBulletin
    private let catalog = Mutex<LogCatalog?>(nil)
    private let lanes = Mutex<AppendLanes?>(nil)

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        bulletin = LogBulletin(configuration)
    }

    deinit {
        lanes.withLock { $0?.close() }
        bulletin.close()
    }

    /// Makes the log where it is missing and brings its tables up to date; several processes may do so at once. `partitions`
    /// is the number of partitions of every topic but `keys`: it is fixed with the first call, and another number fails with
    /// `.misconfigured`.
    ///
    /// Where the server has a role `latchkey_log`, it will own the tables; the session's role must be a member of it and may
    /// set it. All members can then use the log.
    @discardableResult
    public static func provision(_ configuration: Configuration, partitions: Int = 12) throws(LogError) -> LogDescription {
        precondition((1...10_000).contains(partitions), "a log has 1 to 10,000 partitions")
        do throws(PostgresError) {
            let connection = try PostgresConnection(configuration.connection("provision"))
            let migrations = try Migrations(
                schema: "log", owner: "latchkey_log",
                files: [
                    ("0001_log.sql", PackageResources._001_log_sql),
                    ("0002_clock_set_back.sql", PackageResources._002_clock_set_back_sql),
                ])
            try migrations.apply(over: connection)
            try connection.batch(fixtures(partitions: partitions))
            connection.close()
        } catch {
            throw LogError(error)
        }
        let description = try PostgresLog(configuration).describe()
        guard description.partitions == partitions else {
            throw LogError(.misconfigured, "the log has \(description.partitions) partitions, not \(partitions)")
        }
        return description
    }

    private static func fixtures(partitions: Int) -> [SQL] {
        let topics = Topic.allCases
        let id = (0..<16).map { _ in UInt8.random(in: 0...255) }
        return [
            "SELECT pg_advisory_xact_lock(hashtextextended('latchkey log provision', 0))",
            "INSERT INTO log.description (id, partitions) VALUES (\(id), \(partitions)) ON CONFLICT DO NOTHING",
            """
            INSERT INTO log.topics (id, name, retention)
            SELECT (SELECT coalesce(max(id), 0) FROM log.topics) + row_number() OVER (ORDER BY place), name, retention
            FROM unnest(\(topics.map(\.rawValue)), \(topics.map(\.retentionMilliseconds))) WITH ORDINALITY AS new(name, retention, place)
            WHERE NOT EXISTS (SELECT FROM log.topics AS t WHERE t.name = new.name)
            """,
            """
            INSERT INTO log.partitions (topic, partition)
            SELECT t.id, number
            FROM log.topics AS t, log.description AS d,
                generate_series(0, CASE WHEN t.name = \(Topic.keys.rawValue) THEN 0 ELSE d.partitions - 1 END) AS number
            WHERE t.name = ANY (\(topics.map(\.rawValue)))
            ON CONFLICT DO NOTHING
            """,
        ]
    }

    public func describe() throws(LogError) -> LogDescription { try loadCatalog().description }

    public func makeProducer(client: String) throws(LogError) -> any LogProducer {
        PostgresLogProducer(self, client: client, catalog: try loadCatalog())
    }

    public func makeConsumer(client: String, group: ConsumerGroup?) throws(LogError) -> any LogConsumer {
        PostgresLogConsumer(self, client: client, group: group, catalog: try loadCatalog())
    }

    /// The lanes that all producers share; `client` names them for the server's diagnostics.
    func lanes(client: String) -> AppendLanes {
        lanes.withLock { lanes in
            if let lanes { return lanes }
            let new = AppendLanes(
                lasting: AppendLane(configuration, client: client, isLasting: true, bulletin: bulletin),
                passing: AppendLane(configuration, client: client, isLasting: false, bulletin: bulletin))
            lanes = new
            return new
        }
    }

    private func loadCatalog() throws(LogError) -> LogCatalog {
        if let known = catalog.withLock({ $0 }) { return known }
        let connection: PostgresConnection
        do {
            connection = try PostgresConnection(configuration.connection("describe"))
        } catch {
            throw LogError(error)
        }
        let loaded = try LogCatalog.load(over: connection)
        catalog.withLock { $0 = loaded }
        return loaded
    }
}

extension PostgresLog.Configuration {
    /// A connection for one of the log's own tasks.
    func connection(_ task: String, settings: [String: String] = [:]) -> PostgresConnection.Configuration {
        let plain = PostgresConnection.Configuration(connectionString, applicationName: "latchkey log: \(task)")
        var configuration = plain.goingByKeys
        configuration.connectTimeout = .seconds(2)
        configuration.statementTimeout = patience
        configuration.settings.merge(settings) { $1 }
        return configuration
    }
}
