internal import EventLog
internal import EventSchema
internal import Postgres

/// The data keys of a backup, in a schema of their own until it is known which of them may be used.
struct RestoredKeys: Sendable {
    static let schema = "identity_restored"

    struct Outcome: Equatable, Sendable {
        /// Keys that are used again.
        var restored = 0
        /// Keys that the backup holds and nobody may use any more: erased, superseded or expired since.
        var destroyed = 0
    }

    let log: any EventLog
    var projection = "identity"
    var keySchema = IdentityKeys.schema

    static func migrations() throws(PostgresError) -> Migrations {
        try Migrations(schema: schema, files: [("0001_restored_keys.sql", PackageResources._001_restored_keys_sql)])
    }

    /// Whether any are held back.
    func areWaiting(over connection: PostgresConnection) throws(PostgresError) -> Bool {
        try !connection.query("SELECT FROM \(unsafe: Self.schema).data_keys LIMIT 1").isEmpty
    }

    /// Puts back the keys that the projection names, provided that it holds everything that the log held when its end was looked
    /// at, and drops all others. One transaction; blocks.
    ///
    /// - Returns: `nil` where the projection is not so far yet: then nothing was changed.
    func takeUp(over connection: PostgresConnection) throws -> Outcome? {
        guard try isEverythingProjected(over: connection) else { return nil }
        let rows = try connection.batch([
            // Somebody who is erased at this moment is erased before or after this, not in the middle: their row is locked.
            """
            INSERT INTO \(unsafe: keySchema).data_keys (id, wrapped, created_at)
            SELECT held.id, held.wrapped, held.created_at FROM \(unsafe: Self.schema).data_keys AS held
            JOIN \(unsafe: projection).users AS account ON account.data_key = held.id
            WHERE account.erased_at IS NULL
            FOR SHARE OF account
            ON CONFLICT (id) DO NOTHING
            """,
            """
            INSERT INTO \(unsafe: keySchema).data_keys (id, wrapped, created_at)
            SELECT held.id, held.wrapped, held.created_at FROM \(unsafe: Self.schema).data_keys AS held
            JOIN \(unsafe: projection).onboarding_sessions AS session ON session.data_key = held.id
            WHERE session.status = 'active'
            FOR SHARE OF session
            ON CONFLICT (id) DO NOTHING
            """,
            """
            SELECT count(*) FROM \(unsafe: Self.schema).data_keys AS held
            WHERE NOT EXISTS (
                SELECT FROM \(unsafe: keySchema).data_keys AS key WHERE key.id = held.id AND key.wrapped IS NOT NULL)
            """,
            "TRUNCATE \(unsafe: Self.schema).data_keys",
        ])
        return Outcome(
            restored: rows[0].affected + rows[1].affected, destroyed: try rows[2].column(Int.self).first ?? 0)
    }

    /// Whether the projection holds everything that the log holds now.
    func isEverythingProjected(over connection: PostgresConnection) throws -> Bool {
        let ends = try ends()
        let checkpoints = try connection.query("SELECT partition::int8, position FROM \(unsafe: projection).checkpoints")
            .decode(Int.self, String.self)
        let projected = Dictionary(checkpoints.map { ($0.0, ChainPosition(encoded: $0.1)?.offset ?? 0) }) { $1 }
        return ends.allSatisfy { projected[$0.key, default: 0] >= $0.value }
    }

    /// Where the events of each partition end now.
    private func ends() throws(LogError) -> [Int: Int64] {
        let consumer = try log.makeConsumer(client: "unused keys", group: nil)
        defer { consumer.close() }
        var ends: [Int: Int64] = [:]
        for partition in 0..<(try log.describe().partitions) {
            ends[partition] = try consumer.bounds(of: TopicPartition(.identityEvents, partition)).upperBound
        }
        return ends
    }
}
