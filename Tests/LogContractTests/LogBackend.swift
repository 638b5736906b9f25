import EventLog
import EventLogKafka
import EventLogPostgres
import EventLogSimulated
import Foundation
import TestSupport
import Testing

/// An implementation of the log, as the contract sees it.
struct LogBackend: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// How many partitions the largest log of a test has. A broker takes seconds to make hundreds.
    var many = 64
    /// Provisions a new log with so many partitions.
    var make: @Sendable (_ partitions: Int) throws -> LogUnderTest

    /// A real Kafka alone where there is one: its tests run one after the other.
    static let all = servers == nil ? [postgres, simulated, mock] : [kafka]

    /// Those that stamp records, keep large backlogs and share a topic out at once. librdkafka's mock cluster acknowledges a
    /// made-up time, keeps 5 MB of a partition, and lets members wait for each other for seconds.
    static let whole = all.filter { $0.testDescription != mock.testDescription }

    /// Bootstrap servers of a real Kafka, where there is one.
    static let servers = ProcessInfo.processInfo.environment["LATCHKEY_TEST_KAFKA"]

    /// Each test has topics of its own.
    static let kafka = LogBackend(testDescription: "Kafka", many: 12) { partitions in
        let prefix = "test-\(UInt64.random(in: 0..<(1 << 60)))."
        let settings = KafkaSettings(
            bootstrapServers: servers ?? "",
            properties: hasty,
            prefix: prefix)
        let log = KafkaLog(settings)
        try log.provision(partitions: partitions)
        return LogUnderTest(partitions: partitions, keeping: prefix) { KafkaLog(settings) }
    }

    /// Kafka's client against a cluster in memory, wherever there is no broker.
    static let mock = LogBackend(testDescription: "Kafka, mock cluster") { partitions in
        let cluster = try KafkaMockCluster(partitions: partitions)
        // A first member waits three seconds for others, and must live so long.
        let settings = KafkaSettings(
            bootstrapServers: cluster.bootstrapServers,
            properties: ["session.timeout.ms": "6000", "heartbeat.interval.ms": "300"])
        try KafkaLog(settings).provision(partitions: partitions)
        return LogUnderTest(partitions: partitions, keeping: cluster) { KafkaLog(settings) }
    }

    /// Members of a group are given up within seconds.
    private static let hasty = [
        "session.timeout.ms": "1500", "heartbeat.interval.ms": "300", "max.poll.interval.ms": "2500",
    ]

    static let postgres = LogBackend(testDescription: "Postgres") { partitions in
        let database = try TestDatabase.create()
        let configuration = PostgresLog.Configuration.hasty(database)
        try PostgresLog.provision(configuration, partitions: partitions)
        return LogUnderTest(partitions: partitions, keeping: database) { PostgresLog(configuration) }
    }

    static let simulated = LogBackend(testDescription: "Simulated") { partitions in
        let log = SimulatedLog(partitions: partitions, sessionTimeout: .milliseconds(1_000))
        return LogUnderTest(partitions: partitions, keeping: log) { log }
    }
}

/// A log of one test.
final class LogUnderTest {
    let partitions: Int
    /// The handle of one process.
    let log: any EventLog
    private let resource: any Sendable
    private let open: () -> any EventLog

    init(partitions: Int, keeping resource: any Sendable, open: @escaping () -> any EventLog) {
        self.partitions = partitions
        self.resource = resource
        self.open = open
        log = open()
    }

    /// The handle of another process.
    func anotherProcess() -> any EventLog { open() }
}

extension PostgresLog.Configuration {
    /// Members of a group are given up within a second, so that tests of it are not slow.
    static func hasty(_ database: TestDatabase) -> PostgresLog.Configuration {
        var configuration = PostgresLog.Configuration(database.connectionString)
        configuration.heartbeatInterval = .milliseconds(100)
        configuration.memberLifetime = .milliseconds(1_000)
        return configuration
    }
}
