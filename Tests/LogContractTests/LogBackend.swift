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
    /// Provisions a new log with so many partitions.
    var make: @Sendable (_ partitions: Int) throws -> LogUnderTest

    static let all = [postgres, simulated] + (servers == nil ? [] : [kafka])

    /// Bootstrap servers of a real Kafka, where there is one.
    static let servers = ProcessInfo.processInfo.environment["LATCHKEY_TEST_KAFKA"]

    /// Each test has topics of its own.
    static let kafka = LogBackend(testDescription: "Kafka") { partitions in
        let prefix = "test-\(UInt64.random(in: 0..<(1 << 60)))."
        let settings = KafkaSettings(
            bootstrapServers: servers ?? "",
            properties: ["session.timeout.ms": "1500", "heartbeat.interval.ms": "300", "max.poll.interval.ms": "2500"],
            prefix: prefix)
        let log = KafkaLog(settings)
        try log.provision(partitions: partitions)
        return LogUnderTest(partitions: partitions, keeping: prefix) { KafkaLog(settings) }
    }

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
