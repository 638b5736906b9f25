internal import Crypto
internal import Postgres

/// The row of `audit_key`: what proofs of the log are signed with.
struct AuditKeyTable: Sendable {
    let schema: String
    private let wrapping: WrappingKeys

    private static let context = Array("audit key".utf8)

    init(schema: String = IdentityKeys.schema, secret: Secret, accepted: [Secret] = []) {
        self.schema = schema
        wrapping = WrappingKeys(secret: secret, accepted: accepted, info: Array("latchkey identity audit key v1".utf8))
    }

    /// It was wrapped under another secret of Identity, or changed.
    struct Locked: Error, CustomStringConvertible {
        let description = "the key that signs proofs cannot be opened with this IDENTITY_SECRET"
    }

    /// The key, which is made if there is none. Several may ask for it at once; all get the same.
    func key(over connection: PostgresConnection) throws -> Ed25519Key {
        let new = Ed25519Key.random()
        let wrapped = wrapping.seal(new.seed.withBytes { Array($0) }, context: Self.context)
        let rows = try connection.batch([
            """
            INSERT INTO \(unsafe: schema).audit_key (public_key, wrapped_seed) VALUES (\(new.publicKey), \(wrapped))
            ON CONFLICT (only_row) DO NOTHING
            """,
            "SELECT public_key, wrapped_seed FROM \(unsafe: schema).audit_key",
        ])
        guard let (publicKey, sealed) = try rows[1].decode([UInt8].self, [UInt8].self).first,
            var seed = wrapping.open(sealed, context: Self.context), let key = try? Ed25519Key(seed: Secret(wiping: &seed)),
            key.publicKey == publicKey
        else { throw Locked() }
        return key
    }

    /// Wraps it under the secret itself. Returns how many keys were wrapped under another one: one, or none.
    func rewrap(over connection: PostgresConnection) throws -> Int {
        let rows = try connection.query("SELECT wrapped_seed FROM \(unsafe: schema).audit_key").column([UInt8].self)
        guard let wrapped = rows.first else { return 0 }
        switch wrapping.rewrap(wrapped, context: Self.context) {
        case .current: return 0
        case .locked: throw Locked()
        case .anew(let anew):
            return try connection.execute(
                "UPDATE \(unsafe: schema).audit_key SET wrapped_seed = \(anew) WHERE wrapped_seed = \(wrapped)")
        }
    }

    /// The public half, which is no secret; `nil` before there is a key.
    func publicKey(over connection: PostgresConnection) throws(PostgresError) -> [UInt8]? {
        try connection.query("SELECT public_key FROM \(unsafe: schema).audit_key").column([UInt8].self).first
    }
}
