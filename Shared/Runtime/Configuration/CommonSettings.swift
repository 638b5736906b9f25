/// Where a service runs. Unset means production, so that nothing is left open by forgetting.
public enum DeploymentEnvironment: String, Sendable, CaseIterable {
    case production, development, test
}

/// Which implementation of the log is used.
public enum LogBackend: String, Sendable, CaseIterable {
    case postgres, kafka
}

/// What all four services are told.
public struct CommonSettings: Sendable {
    public let environment: DeploymentEnvironment
    public let logLevel: LogLevel
    public let log: LogBackend
    /// libpq connection string or URI of the service's own role.
    public let databaseURL: String
    /// Where the Postgres log lives.
    public let logDatabaseURL: String
    /// librdkafka's properties, by the rest of the variables' names: `BOOTSTRAP_SERVERS`.
    public let kafka: [String: String]
    public let partitions: Int
    /// Oldest first.
    public let macKeys: [NumberedSecret]
    /// IP address that servers of this process listen at.
    public let address: String
    /// Port of `/healthz`, `/readyz` and `/metrics`; 0: none. (The gateway also has them on its own port.)
    public let operationsPort: Int

    public init(from settings: Settings) {
        environment = settings.value(
            "LATCHKEY_ENV", .choice, default: .production,
            "Where this runs. Only development allows what would be dangerous elsewhere.")
        logLevel = settings.value(
            "LATCHKEY_LOG_LEVEL", .choice, default: .info, "The least important log lines that are written.")
        log = settings.value("LATCHKEY_LOG", .choice, default: .postgres, "Implementation of the log.")
        databaseURL = settings.required(
            "LATCHKEY_DATABASE_URL", .secretText, "Postgres connection string (libpq URI or key=value) of this service's role.")
        logDatabaseURL =
            settings.optional(
                "LATCHKEY_LOG_DATABASE_URL", .secretText,
                "Postgres connection string of the log, where it lies in another database than the rest.") ?? databaseURL
        kafka = settings.family(
            "LATCHKEY_KAFKA_", secret: true,
            "Properties of librdkafka, in capitals and with _ for dots. LATCHKEY_KAFKA_BOOTSTRAP_SERVERS (host:port,…) is needed with LATCHKEY_LOG=kafka."
        )
        if log == .kafka, kafka["BOOTSTRAP_SERVERS"]?.isEmpty ?? true {
            settings.fault("LATCHKEY_KAFKA_BOOTSTRAP_SERVERS", "is not set, and LATCHKEY_LOG is kafka")
        }
        partitions = settings.value(
            "LATCHKEY_PARTITIONS", .integer(1...1_024), default: 12,
            "Partitions of every topic. Fixed when the log is provisioned, the same everywhere, never changed in place.")
        macKeys = settings.required(
            "LATCHKEY_LOG_MAC_KEYS", .numberedSecrets(bytes: 32),
            "Keys that authenticate records of the log, as NUMBER:KEY, oldest first, 32 bytes each. The same for all services.")
        address = settings.value("LATCHKEY_ADDRESS", .address, default: "127.0.0.1", "IP address that servers listen at.")
        operationsPort = settings.value(
            "LATCHKEY_OPERATIONS_PORT", .optionalPort, default: 0,
            "Port of /healthz, /readyz and /metrics for operators; 0: none.")
    }
}
