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

    // MARK: Ids

    /// A new user id that routes to `routingKey`. `random` are 10 bytes of the CSPRNG.
    public func userID(for routingKey: RoutingKey, random: [UInt8]) -> UserID { id(for: routingKey, random: random) }

    public func userID(for routingKey: RoutingKey) -> UserID { userID(for: routingKey, random: Random.bytes(UserID.randomBytes)) }

    /// A new id of an onboarding session that routes to `routingKey`. `random` are 10 bytes of the CSPRNG.
    public func onboardingSessionID(for routingKey: RoutingKey, random: [UInt8]) -> OnboardingSessionID {
        id(for: routingKey, random: random)
    }

    public func onboardingSessionID(for routingKey: RoutingKey) -> OnboardingSessionID {
        onboardingSessionID(for: routingKey, random: Random.bytes(OnboardingSessionID.randomBytes))
    }

    private func id<ID: RoutedIdentifier>(for routingKey: RoutingKey, random: [UInt8]) -> ID {
        ID(random: random) { routingKey.value ^ mask(ID.maskLabel, $0) }
    }

    /// Where what the id names belongs; of an id that was never given, some routing key or other.
    public func routingKey<ID: RoutedIdentifier>(of id: ID) -> RoutingKey {
        RoutingKey(value: id.masked ^ mask(ID.maskLabel, id.random))
    }

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

    // MARK: Tokens with a reference

    /// A new token that routes to `routingKey` and refers to the 16 bytes of something there. `random` are 17 bytes of the CSPRNG.
    public func token(
        kind: TokenKind, reference: [UInt8], for routingKey: RoutingKey, random: [UInt8]
    ) -> ReferenceToken {
        precondition(reference.count == 16, "a reference has 16 bytes")
        let masked = zip(routingKey.bytes + reference, referenceMask(kind, random)).map { $0 ^ $1 }
        return ReferenceToken(kind: kind, random: random, masked: masked, tag: tag(kind, random, masked))
    }

    public func token(kind: TokenKind, reference: [UInt8], for routingKey: RoutingKey) -> ReferenceToken {
        token(kind: kind, reference: reference, for: routingKey, random: Random.bytes(ReferenceToken.randomBytes))
    }

    /// Where the token belongs and the 16 bytes of what it refers to; `nil` for one that was not made here.
    public func open(_ token: ReferenceToken) -> (routingKey: RoutingKey, reference: [UInt8])? {
        guard constantTimeEquals(tag(token.kind, token.random, token.masked), token.tag) else { return nil }
        let bytes = zip(token.masked, referenceMask(token.kind, token.random)).map { $0 ^ $1 }
        guard let routingKey = RoutingKey(bytes: bytes.prefix(6)) else { return nil }
        return (routingKey, Array(bytes.dropFirst(6)))
    }

    private func referenceMask(_ kind: TokenKind, _ random: [UInt8]) -> [UInt8] {
        Array(code("reference", [kind.rawValue] + random).prefix(ReferenceToken.maskedBytes))
    }

    private func tag(_ kind: TokenKind, _ random: [UInt8], _ masked: [UInt8]) -> [UInt8] {
        Array(code("reference tag", [kind.rawValue] + random + masked).prefix(ReferenceToken.tagBytes))
    }

    /// The first 48 bits of HMAC(0 ‖ length of use ‖ use ‖ random part).
    private func mask(_ use: String, _ random: [UInt8]) -> UInt64 {
        code(use, random).prefix(6).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func code(_ use: String, _ bytes: [UInt8]) -> [UInt8] {
        key.code(for: [0, UInt8(use.utf8.count)] + use.utf8 + bytes)
    }
}
