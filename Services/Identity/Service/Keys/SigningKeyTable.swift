internal import Crypto
internal import EventSchema
internal import JSON
internal import Postgres
internal import Projections

/// The rows of `signing_keys`: one key that signs, one that will, and those that did.
///
/// Every change is one transaction under a lock, so any number of instances and operators may make one at once.
struct SigningKeyTable: Sendable {
    let schema: String
    private let wrapping: WrappingKeys

    init(schema: String = IdentityKeys.schema, secret: Secret, accepted: [Secret] = []) {
        self.schema = schema
        wrapping = WrappingKeys(
            secret: secret, accepted: accepted, info: Array("latchkey identity signing keys v1".utf8))
    }

    enum Failure: Error, Equatable, CustomStringConvertible {
        case database(PostgresError)
        /// The row was written under another secret of Identity, or was changed.
        case locked(kid: String)
        case noSuchKey(kid: String)

        var isRetriable: Bool {
            if case .database(let error) = self { error.isRetriable } else { false }
        }

        var description: String {
            switch self {
            case .database(let error): error.description
            case .locked(let kid): "the signing key \(kid) cannot be opened with this IDENTITY_SECRET"
            case .noSuchKey(let kid): "there is no signing key \(kid)"
            }
        }
    }

    /// The key that signs now, as this instance uses it.
    struct Current: Sendable {
        var kid: String
        var key: SigningKey
    }

    struct Row: Equatable, Sendable {
        var kid: String
        var algorithm: String
        var state: String
        var createdAt: PostgresTimestamp
        var currentSince: PostgresTimestamp?
        var retiredAt: PostgresTimestamp?
    }

    // MARK: Reading

    /// `nil` before there is any key.
    func current(over connection: PostgresConnection) throws(Failure) -> Current? {
        try read {
            () throws(PostgresError) in
            try connection.query(
                "SELECT kid, wrapped_private FROM \(unsafe: schema).signing_keys WHERE state = 'current'"
            ).decode(String.self, [UInt8].self).first
        }.map { row throws(Failure) in try unwrap(kid: row.0, row.1) }
    }

    /// All, the newest first.
    func rows(over connection: PostgresConnection) throws(Failure) -> [Row] {
        try read { () throws(PostgresError) in
            try connection.query(
                """
                SELECT kid, algorithm, state, created_at, current_since, retired_at FROM \(unsafe: schema).signing_keys
                ORDER BY created_at DESC, kid
                """
            ).decode(
                String.self, String.self, String.self, PostgresTimestamp.self, PostgresTimestamp?.self, PostgresTimestamp?.self)
        }.map { Row(kid: $0.0, algorithm: $0.1, state: $0.2, createdAt: $0.3, currentSince: $0.4, retiredAt: $0.5) }
    }

    // MARK: Changing

    /// Makes the first keys, and goes over to another algorithm where the setting changed: the key that signs is then one that
    /// nobody has seen before, so readers must look for an unknown one.
    func prepare(_ algorithm: SignatureAlgorithm, over connection: PostgresConnection) throws(Failure) {
        try change(over: connection) { () throws(PostgresError) in
            let algorithms = try algorithms(over: connection)
            if algorithms["next"] != algorithm.rawValue { try replaceNext(algorithm, over: connection) }
            if algorithms["current"] != algorithm.rawValue { try advance(algorithm, over: connection) }
        }
    }

    /// The next key becomes the current one, the current one retires, and a new next one is made. Returns the kid of the key
    /// that signs from now on.
    func rotate(_ algorithm: SignatureAlgorithm, over connection: PostgresConnection) throws(Failure) -> String? {
        try change(over: connection) { () throws(PostgresError) in try advance(algorithm, over: connection) }
        return try current(over: connection)?.kid
    }

    /// Rotates if the current key has been in use for longer than `age`. Returns whether it did.
    func rotate(
        _ algorithm: SignatureAlgorithm, olderThan age: Duration, over connection: PostgresConnection
    ) throws(Failure) -> Bool {
        var isDue = false
        try change(over: connection) { () throws(PostgresError) in
            isDue = try !connection.query(
                """
                SELECT FROM \(unsafe: schema).signing_keys
                WHERE state = 'current' AND current_since < now() - make_interval(secs => \(Double(age.components.seconds)))
                """
            ).isEmpty
            if isDue { try advance(algorithm, over: connection) }
        }
        return isDue
    }

    /// From now on no token of this key counts. If it is the one that signs, or will, another takes its place.
    func revoke(kid: String, _ algorithm: SignatureAlgorithm, over connection: PostgresConnection) throws(Failure) {
        var isKnown = false
        try change(over: connection) { () throws(PostgresError) in
            let states = try connection.query(
                "SELECT state FROM \(unsafe: schema).signing_keys WHERE kid = \(kid) AND state <> 'revoked'"
            ).column(String.self)
            isKnown = !states.isEmpty
            // The next one, too, is remembered as revoked.
            if states.first == "current" { try advance(algorithm, over: connection) }
            try connection.execute(
                """
                UPDATE \(unsafe: schema).signing_keys
                SET state = 'revoked', wrapped_private = NULL, retired_at = coalesce(retired_at, now()) WHERE kid = \(kid)
                """)
            if states.first == "next" { try replaceNext(algorithm, over: connection) }
        }
        guard isKnown else { throw .noSuchKey(kid: kid) }
    }

    /// Has keys that are said to be retired or revoked be so, whatever they are here. Those that are not here are left out.
    func retire(_ keys: [SigningKeyRetired], over connection: PostgresConnection) throws(Failure) {
        try change(over: connection) { () throws(PostgresError) in
            try Self.retire(keys, in: schema, over: connection)
        }
    }

    /// The same, as part of a transaction.
    static func retire(
        _ keys: [SigningKeyRetired], in schema: String = IdentityKeys.schema, over connection: PostgresConnection
    ) throws(PostgresError) {
        for retired in keys {
            let time = PostgresTimestamp(retired.retiredAt)
            try connection.execute(
                """
                UPDATE \(unsafe: schema).signing_keys
                SET state = \(retired.isRevoked ? "revoked" : "retired"), wrapped_private = NULL,
                    current_since = coalesce(current_since, created_at), retired_at = least(retired_at, \(time))
                WHERE kid = \(retired.key) AND state <> 'revoked'
                """)
        }
    }

    /// Wraps the private keys under the secret itself. Returns how many were wrapped under another one.
    func rewrap(over connection: PostgresConnection) throws(Failure) -> Int {
        var count = 0
        var locked: String?
        try change(over: connection) { () throws(PostgresError) in
            let rows = try connection.query(
                "SELECT kid, wrapped_private FROM \(unsafe: schema).signing_keys WHERE wrapped_private IS NOT NULL"
            ).decode(String.self, [UInt8].self)
            for (kid, wrapped) in rows {
                switch wrapping.rewrap(wrapped, context: Self.context(kid)) {
                case .current: break
                case .locked: locked = kid
                case .anew(let anew):
                    count += 1
                    try connection.execute(
                        "UPDATE \(unsafe: schema).signing_keys SET wrapped_private = \(anew) WHERE kid = \(kid)")
                }
            }
        }
        if let locked { throw .locked(kid: locked) }
        return count
    }

    /// Until its transaction ends, nobody else changes signing keys.
    static func lock(_ schema: String = IdentityKeys.schema, over connection: PostgresConnection) throws(PostgresError) {
        try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(\("signing keys of " + schema), 0))")
    }

    // MARK: Steps of a change

    private func algorithms(over connection: PostgresConnection) throws(PostgresError) -> [String: String] {
        let rows = try connection.query(
            "SELECT state, algorithm FROM \(unsafe: schema).signing_keys WHERE state IN ('next', 'current')"
        ).decode(String.self, String.self)
        return Dictionary(rows.map { ($0.0, $0.1) }, uniquingKeysWith: { first, _ in first })
    }

    private func advance(_ algorithm: SignatureAlgorithm, over connection: PostgresConnection) throws(PostgresError) {
        if try algorithms(over: connection)["next"] != algorithm.rawValue { try replaceNext(algorithm, over: connection) }
        try connection.execute(
            """
            UPDATE \(unsafe: schema).signing_keys SET state = 'retired', retired_at = now(), wrapped_private = NULL
            WHERE state = 'current'
            """)
        try connection.execute(
            "UPDATE \(unsafe: schema).signing_keys SET state = 'current', current_since = now() WHERE state = 'next'")
        try replaceNext(algorithm, over: connection)
    }

    private func replaceNext(_ algorithm: SignatureAlgorithm, over connection: PostgresConnection) throws(PostgresError) {
        let key = SigningKey.random(algorithm)
        let kid = key.publicKey.thumbprint
        let jwk = JSON.object(key.publicKey.jwk(keyID: kid)).serialized()
        // It has signed nothing.
        try connection.execute("DELETE FROM \(unsafe: schema).signing_keys WHERE state = 'next'")
        try connection.execute(
            """
            INSERT INTO \(unsafe: schema).signing_keys (kid, algorithm, state, public_jwk, wrapped_private)
            VALUES (\(kid), \(algorithm.rawValue), 'next', \(PostgresJSON(jwk)),
                \(wrapping.seal(key.pkcs8.withBytes { Array($0) }, context: Self.context(kid))))
            """)
    }

    private func unwrap(kid: String, _ wrapped: [UInt8]) throws(Failure) -> Current {
        guard var bytes = wrapping.open(wrapped, context: Self.context(kid)),
            let key = try? SigningKey(pkcs8: Secret(wiping: &bytes)), key.publicKey.thumbprint == kid
        else { throw .locked(kid: kid) }
        return Current(kid: kid, key: key)
    }

    private static func context(_ kid: String) -> [UInt8] { Array("signing key ".utf8) + Array(kid.utf8) }

    private func change(
        over connection: PostgresConnection, _ body: () throws(PostgresError) -> Void
    ) throws(Failure) {
        do {
            try connection.transaction { connection in
                try Self.lock(schema, over: connection)
                try body()
            }
        } catch let error as PostgresError {
            throw .database(error)
        } catch {
            preconditionFailure("nothing else is thrown here")
        }
    }

    private func read<Value>(_ body: () throws(PostgresError) -> Value) throws(Failure) -> Value {
        do throws(PostgresError) {
            return try body()
        } catch {
            throw .database(error)
        }
    }
}
