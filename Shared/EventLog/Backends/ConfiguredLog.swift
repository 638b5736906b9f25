public import EventLog
internal import EventLogKafka
internal import EventLogPostgres
public import Runtime

/// The log that the settings of a service name.
public enum ConfiguredLog {
    public static func make(_ settings: CommonSettings) -> any EventLog {
        switch settings.log {
        case .postgres: PostgresLog(PostgresLog.Configuration(settings.logDatabaseURL))
        case .kafka: KafkaLog(KafkaSettings(variables: settings.kafka))
        }
    }

    /// Makes the log where it is missing; several processes may do so at once. Fails with `.misconfigured` where what is
    /// there has another shape. Blocks.
    public static func provision(_ settings: CommonSettings) throws(LogError) {
        switch settings.log {
        case .postgres:
            try PostgresLog.provision(PostgresLog.Configuration(settings.logDatabaseURL), partitions: settings.partitions)
        case .kafka: try KafkaLog(KafkaSettings(variables: settings.kafka)).provision(partitions: settings.partitions)
        }
    }
}
