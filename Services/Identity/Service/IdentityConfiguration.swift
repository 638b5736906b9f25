public import Crypto
public import EventSchema
public import Runtime

/// Identity's settings.
public struct IdentityConfiguration: ServiceConfiguration {
    public let common: CommonSettings
    public let secret: Secret
    /// Others that keys may be wrapped under.
    public let acceptedSecrets: [Secret]
    public let routingSecret: Secret
    /// The issuer of tokens.
    public let publicURL: String
    /// Whom access tokens are for.
    public let tokenAudience: String
    /// How long an access token is good.
    public let accessLifetime: Interval
    /// What tokens are signed with.
    public let tokenAlgorithm: SignatureAlgorithm
    /// How long one key signs; `nil`: until an operator rotates it.
    public let signingKeyAge: Duration?
    /// What a new password hash costs.
    public let passwordCost: Argon2Settings
    /// Whether figures per day are kept, and from when on.
    public let dailyFigures: DailyFigures.Start?

    public init(from settings: Settings) {
        common = CommonSettings(from: settings)
        secret = settings.required(
            "IDENTITY_SECRET", .secret(bytes: 32),
            "Wraps the keys that are kept in identity_keys and identity_sealing. The same for all instances of Identity.")
        acceptedSecrets = settings.value(
            "IDENTITY_SECRET_ACCEPTED", .secrets(bytes: 32), default: [],
            "While IDENTITY_SECRET is replaced: other secrets that keys may be wrapped under, first the new one, then the old one."
        )
        routingSecret = settings.required(
            "LATCHKEY_ROUTING_SECRET", .secret(bytes: 32),
            "Makes pseudonyms of e-mail addresses and phone numbers. The same for all services; it can never be changed.")
        tokenAlgorithm = settings.value(
            "TOKEN_ALGORITHM", .choice, default: .es256, "What tokens are signed with.")
        publicURL = settings.value(
            "PUBLIC_URL", .text, default: "http://localhost:3001",
            "Where clients reach the API: the issuer of tokens. The same for gateways and Identity.")
        if WebAddress(publicURL) == nil { settings.fault("PUBLIC_URL", "is no URL") }
        tokenAudience =
            settings.optional(
                "TOKEN_AUDIENCE", .text, "Whom access tokens are for; unset: the issuer. The same for gateways and Identity.")
            ?? publicURL
        let lifetime = settings.value(
            "ACCESS_TOKEN_LIFETIME", .duration(.seconds(10)...(.seconds(3_600))), default: .seconds(900),
            "How long an access token is good.")
        accessLifetime = .seconds(lifetime.components.seconds)
        signingKeyAge = settings.optional(
            "SIGNING_KEY_AGE", .duration(.seconds(3_600)...(.seconds(366 * 86_400))),
            "After so long a key that signs tokens makes way for the next one; unset: only when an operator rotates it.")
        dailyFigures = settings.optional(
            "IDENTITY_DAILY_FIGURES", .start,
            "Keeps sign-ups and verified addresses per day in the table daily.figures: beginning, or the time from which on.")
        let memory = settings.value(
            "PASSWORD_HASH_MEMORY", .integer(8...262_144), default: 19_456, "Memory of a new argon2id hash, in KiB.")
        let passes = settings.value(
            "PASSWORD_HASH_PASSES", .integer(1...64), default: 2, "Passes of a new argon2id hash over its memory.")
        passwordCost = Argon2Settings(memory: UInt32(memory), passes: UInt32(passes))
    }
}
