public import Crypto
public import EventSchema
public import Postgres

/// The data keys, in `data_keys`: made before they are used, and destroyed with what they were for.
///
/// Nothing of them is kept in memory: who reads somebody's row reads their key in the same statement, so that a destroyed key is
/// gone everywhere at once.
public struct DataKeyStore: Sendable {
    /// Why a key was destroyed.
    public enum Reason: String, Sendable, CaseIterable {
        case erased, superseded, expired
        /// What it was made for never happened.
        case unused
    }

    let schema: String
    let wrapping: WrappingKeys

    /// - Parameters:
    ///   - schema: where the migrations were applied; a trusted name.
    ///   - secret: Identity's own.
    ///   - accepted: others that rows may be wrapped under.
    public init(schema: String = IdentityKeys.schema, secret: Secret, accepted: [Secret] = []) {
        self.schema = schema
        wrapping = WrappingKeys(
            secret: secret, accepted: accepted, info: Array("latchkey identity data keys v1".utf8))
    }

    /// New keys, or those that are there under these ids: a command that is worked on twice gets the same one. When this returns
    /// they are committed. One round trip; blocks.
    ///
    /// - Returns: all that exist and can be opened. One that was destroyed is missing.
    public func make(
        _ ids: [DataKeyID], over connection: PostgresConnection
    ) throws(PostgresError) -> [DataKeyID: DataKey] {
        if ids.isEmpty { return [:] }
        let drawn = ids.map { wrap(.random(), as: $0) }
        let rows = try connection.batch([
            // What is encrypted under a key must not outlive it in the log because Postgres lost its last commits.
            "SELECT set_config('synchronous_commit', 'on', true)",
            """
            INSERT INTO \(unsafe: schema).data_keys (id, wrapped)
            SELECT DISTINCT ON (id) id, wrapped FROM unnest(\(ids.map { PostgresUUID($0.bytes) }), \(drawn)) AS drawn(id, wrapped)
            ON CONFLICT (id) DO NOTHING
            """,
            """
            SELECT id, wrapped FROM \(unsafe: schema).data_keys
            WHERE id = ANY (\(ids.map { PostgresUUID($0.bytes) })) AND wrapped IS NOT NULL
            """,
        ])
        var keys: [DataKeyID: DataKey] = [:]
        for (id, wrapped) in try rows[2].decode(PostgresUUID.self, [UInt8].self) {
            if let id = DataKeyID(bytes: id.bytes), let key = unwrap(wrapped, as: id) { keys[id] = key }
        }
        return keys
    }

    /// The key of a row; `nil` where it was wrapped under another secret, as another key, or was changed.
    public func unwrap(_ wrapped: [UInt8], as id: DataKeyID) -> DataKey? {
        guard var bytes = wrapping.open(wrapped, context: Self.context(id)),
            let key = try? SymmetricKey(Secret(wiping: &bytes))
        else { return nil }
        return DataKey(id: id, key: key)
    }

    private func wrap(_ key: SymmetricKey, as id: DataKeyID) -> [UInt8] {
        wrapping.seal(key.secret.withBytes { Array($0) }, context: Self.context(id))
    }

    static func context(_ id: DataKeyID) -> [UInt8] { Array("data key ".utf8) + id.bytes }

    /// Destroys keys for good, those that are destroyed already aside: a statement for the transaction that takes what ended
    /// them into the tables.
    public func destroying(_ ids: [DataKeyID], for reason: Reason) -> SQL {
        """
        UPDATE \(unsafe: schema).data_keys SET wrapped = NULL, destroyed_at = now(), reason = \(reason.rawValue)
        WHERE id = ANY (\(ids.map { PostgresUUID($0.bytes) })) AND wrapped IS NOT NULL
        """
    }
}
