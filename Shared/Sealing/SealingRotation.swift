public import EventLog
public import EventSchema
public import Postgres

/// Has everybody seal to a new pair of a service from now on, without waiting for the next day. What was sealed before opens as
/// long as it would have: the old pair is destroyed in its turn. Blocks.
public struct SealingRotation: Sendable {
    private let store: SealingKeyStore
    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let database: PostgresConnection.Configuration
    private let patience: Duration

    /// - Parameter patience: how long the log is waited for.
    public init(
        _ store: SealingKeyStore, log: any EventLog, authenticator: RecordAuthenticator,
        database: PostgresConnection.Configuration, patience: Duration = .seconds(15)
    ) {
        self.store = store
        self.log = log
        self.authenticator = authenticator
        self.database = database
        self.patience = patience
    }

    /// - Returns: the new key: its name, and when senders begin to use it. By then every instance holds its pair.
    public func run() throws -> SealingKeyPublished {
        let handles = try OperatorHandles(log: log, authenticator: authenticator, patience: patience)
        defer { handles.close() }
        let probe = OutgoingRecord.probe(of: TopicPartition(.replies, 0), by: store.service, authenticator)
        let now = try handles.producer.append(probe, within: patience).time
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        let key = try store.drawOutOfTurn(over: connection, at: now)
        try handles.producer.append(KeyRecord.publishing(key, at: now, by: authenticator), within: patience)
        return key
    }
}
