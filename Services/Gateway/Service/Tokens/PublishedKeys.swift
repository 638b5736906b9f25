public import Crypto
import EventLog
import EventSchema
import JSON
public import Postgres
public import Sealing

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

/// Identity's keys, as its view for gateways shows them, without those that the topic `keys` says are revoked: a backup of
/// Postgres brings them back, and until Identity has noticed that, who holds such a key could make tokens that count.
public struct PostgresPublishedKeys: PublishedKeys {
    private let pool: PostgresPool
    private let directory: KeyDirectory

    /// - Parameter directory: follows the topic `keys`. Nothing is loaded before it was read.
    public init(_ pool: PostgresPool, directory: KeyDirectory) {
        self.pool = pool
        self.directory = directory
    }

    public func load() async throws -> [PublishedKey] {
        guard let retired = directory.retiredSigningKeys else { throw LogError(.unavailable, "the topic keys is being read") }
        let rows = try await pool.query("SELECT kid, public_jwk::text FROM identity_keys.signing_keys_for_gateway ORDER BY kid")
        let known = try rows.decode(String.self, String.self).filter { retired[$0.0]?.isRevoked != true }
        return try known.map { id, text in
            guard let jwk = (try? JSON.parse(Array(text.utf8)))?.object, let key = try? VerificationKey(jwk: jwk) else {
                throw PostgresError(.mismatch, "a signing key of Identity is none")
            }
            return PublishedKey(id: id, key: key)
        }
    }
}
