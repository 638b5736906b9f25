public import Crypto
import JSON
public import Postgres

/// A public key that tokens are signed under.
public struct PublishedKey: Hashable, Sendable {
    public var id: String
    public var key: VerificationKey

    public init(id: String, key: VerificationKey) {
        self.id = id
        self.key = key
    }

    /// For a JWKS.
    var jwk: JSON { .object(key.jwk(keyID: id)) }
}

/// Where the public keys of Identity stand.
public protocol PublishedKeys: Sendable {
    /// All that tokens may be signed under now or soon.
    func load() async throws -> [PublishedKey]
}

/// Identity's keys, as its view for gateways shows them.
public struct PostgresPublishedKeys: PublishedKeys {
    private let pool: PostgresPool

    public init(_ pool: PostgresPool) { self.pool = pool }

    public func load() async throws -> [PublishedKey] {
        let rows = try await pool.query("SELECT kid, public_jwk::text FROM identity_keys.signing_keys_for_gateway ORDER BY kid")
        return try rows.decode(String.self, String.self).map { id, text in
            guard let jwk = (try? JSON.parse(Array(text.utf8)))?.object, let key = try? VerificationKey(jwk: jwk) else {
                throw PostgresError(.mismatch, "a signing key of Identity is none")
            }
            return PublishedKey(id: id, key: key)
        }
    }
}
