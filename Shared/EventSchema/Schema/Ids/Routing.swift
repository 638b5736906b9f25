public import Crypto

/// What a subject stands for.
public enum SubjectKind: String, Sendable, CaseIterable {
    case email, phone
}

/// Where things belong: pseudonyms of identifiers, and ids and tokens that carry a routing key under a mask.
///
/// Everything is HMAC-SHA256 under the routing secret, which never changes. The first byte tells the uses apart: the length
/// of the kind (never 0) for subjects, 0 for masks.
public struct Routing: Sendable {
    private let key: HMACSHA256

    public init(secret: Secret) {
        key = HMACSHA256(key: secret)
    }

    /// The first 16 bytes of HMAC(length of kind ‖ kind ‖ canonical identifier).
    public func subject(kind: SubjectKind, canonical: String) -> Subject {
        let kind = kind.rawValue.utf8
        let code = key.code(for: [UInt8(kind.count)] + kind + canonical.utf8)
        guard let subject = Subject(bytes: code.prefix(16)) else { preconditionFailure("an HMAC-SHA256 has 32 bytes") }
        return subject
    }

    // MARK: User ids

    /// A new user id that routes to `routingKey`. `random` are 10 bytes of the CSPRNG.
    public func userID(for routingKey: RoutingKey, random: [UInt8]) -> UserID {
        UserID(random: random) { routingKey.value ^ mask("user", $0) }
    }

    public func userID(for routingKey: RoutingKey) -> UserID { userID(for: routingKey, random: Random.bytes(UserID.randomBytes)) }

    /// Where the user belongs; of an id that was never given, some routing key or other.
    public func routingKey(of user: UserID) -> RoutingKey { RoutingKey(value: user.masked ^ mask("user", user.random)) }

    // MARK: Tokens

    /// A new token that routes to `routingKey`. `random` are 17 bytes of the CSPRNG.
    public func token(kind: TokenKind, for routingKey: RoutingKey, random: [UInt8]) -> OpaqueToken {
        OpaqueToken(kind: kind, random: random, masked: routingKey.value ^ mask("token", [kind.rawValue] + random))
    }

    public func token(kind: TokenKind, for routingKey: RoutingKey) -> OpaqueToken {
        token(kind: kind, for: routingKey, random: Random.bytes(OpaqueToken.randomBytes))
    }

    /// Where the token belongs; of a forged one, some routing key or other.
    public func routingKey(of token: OpaqueToken) -> RoutingKey {
        RoutingKey(value: token.masked ^ mask("token", [token.kind.rawValue] + token.random))
    }

    /// The first 48 bits of HMAC(0 ‖ length of use ‖ use ‖ random part).
    private func mask(_ use: String, _ random: [UInt8]) -> UInt64 {
        key.code(for: [0, UInt8(use.utf8.count)] + use.utf8 + random).prefix(6).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
