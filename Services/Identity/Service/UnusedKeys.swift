public import EventLog
internal import EventSchema
public import Postgres
public import Runtime

/// Destroys data keys that nothing came of: the sign-up that they were made for was refused, or came too late.
///
/// A key is of no use when it is a day old and no row names it, provided that everything is projected that the log held when its
/// end was looked at: whatever can name the key was appended long before. Keys of a backup are taken up on the same condition.
public final class UnusedKeys: Component {
    public let name = "unused keys"
    private let log: any EventLog
    private let schema: String
    private let keySchema: String
    private let restored: RestoredKeys
    private let database: PostgresConnection.Configuration
    private let interval: Duration
    private let logger: Logger
    private let pause = Mailbox<Never>()

    /// - Parameter interval: between two looks.
    public init(
        log: any EventLog, schema: String = "identity", keySchema: String = IdentityKeys.schema,
        database: PostgresConnection.Configuration, interval: Duration = .seconds(3_600), logger: Logger
    ) {
        self.log = log
        self.schema = schema
        self.keySchema = keySchema
        restored = RestoredKeys(log: log, projection: schema, keySchema: keySchema)
        self.database = database
        self.interval = interval
        self.logger = logger
    }

    public func run() async throws {
        let pause = pause
        try await WorkerThread(name: "unused keys", wake: { pause.wake() }) { [self] stop in
            while !stop.isRaised {
                var isWaiting = false
                do {
                    isWaiting = try !takeUpRestored()
                    if !isWaiting { try sweep() }
                } catch {
                    let reason = (error as? LogError)?.description ?? (error as? PostgresError)?.description ?? ""
                    logger.warning("unused data keys were not looked for", ["reason": .public(reason)])
                }
                _ = pause.receive(within: isWaiting ? .milliseconds(500) : interval)
            }
        }.run()
    }

    /// Returns whether no key of a backup is held back any more. Blocks.
    private func takeUpRestored() throws -> Bool {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        guard try restored.areWaiting(over: connection) else { return true }
        guard let outcome = try restored.takeUp(over: connection) else { return false }
        logger.notice(
            "data keys of a backup are used again",
            ["restored": .public(outcome.restored), "destroyed": .public(outcome.destroyed)])
        return true
    }

    /// Returns how many keys were destroyed. Blocks.
    @discardableResult
    func sweep() throws -> Int {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        guard try restored.isEverythingProjected(over: connection) else { return 0 }
        let destroyed = try connection.query(
            """
            UPDATE \(unsafe: keySchema).data_keys AS key SET wrapped = NULL, destroyed_at = now(), reason = 'unused'
            WHERE wrapped IS NOT NULL AND created_at < now() - interval '1 day'
                AND NOT EXISTS (SELECT FROM \(unsafe: schema).users AS account WHERE account.data_key = key.id)
                AND NOT EXISTS (SELECT FROM \(unsafe: schema).onboarding_sessions AS session WHERE session.data_key = key.id)
            RETURNING 1
            """
        ).count
        if destroyed > 0 { logger.info("unused data keys were destroyed", ["keys": .public(destroyed)]) }
        return destroyed
    }
}
