internal import Crypto
public import EventSchema
internal import JSON

/// Tokens under Identity's signing keys, with the claims of the HTTP contract.
public struct SignedTokens: TokenMinting {
    private let keys: SigningKeys
    private let issuer: String
    private let audience: String
    public let accessLifetime: Interval

    private static let client = "latchkey-mobile"

    /// - Parameters:
    ///   - keys: hold one before the first token is asked for.
    ///   - audience: of access tokens.
    public init(keys: SigningKeys, issuer: String, audience: String, accessLifetime: Interval) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
        self.accessLifetime = accessLifetime
    }

    public func accessToken(_ claims: AccessClaims) -> String {
        var members: JSONObject = [
            "iss": .string(issuer), "sub": .string(claims.user.text), "aud": .string(audience),
            "exp": .integer(Self.seconds(claims.issuedAt + accessLifetime)), "iat": .integer(Self.seconds(claims.issuedAt)),
            "jti": .string(MessageID.random().text), "sid": .string(claims.session.text), "client_id": .string(Self.client),
            "auth_time": .integer(Self.seconds(claims.authenticatedAt)), "scope": "openid profile",
        ]
        if !claims.groups.isEmpty { members["groups"] = .array(claims.groups.map { .string($0) }) }
        return keys.sign(members, type: "at+jwt")
    }

    public func onboardingToken(_ session: OnboardingSessionID, issuedAt: Timestamp, expiresAt: Timestamp) -> String {
        keys.sign(
            [
                "iss": .string(issuer), "sub": .string(session.text), "aud": .string(issuer + "/api/onboarding"),
                "exp": .integer(Self.seconds(expiresAt)), "iat": .integer(Self.seconds(issuedAt)),
                "jti": .string(MessageID.random().text),
            ], type: "onboarding+jwt")
    }

    private static func seconds(_ time: Timestamp) -> Int64 { time.milliseconds / 1_000 }
}
