public import Crypto
import EventSchema
public import Runtime
public import VerificationDomain

/// Verification's settings.
public struct VerificationConfiguration: ServiceConfiguration {
    public let common: CommonSettings
    public let secret: Secret
    /// Others that codes may have been made under.
    public let acceptedSecrets: [Secret]
    public let routingSecret: Secret
    public let rules: Challenge.Rules

    public init(from settings: Settings) {
        common = CommonSettings(from: settings)
        secret = settings.required(
            "VERIFICATION_SECRET", .secret(bytes: 32),
            "What keys of codes are derived from.")
        acceptedSecrets = settings.value(
            "VERIFICATION_SECRET_ACCEPTED", .secrets(bytes: 32), default: [],
            "While VERIFICATION_SECRET is replaced: other secrets whose codes are good, first the new one, then the old one for as long as codes live."
        )
        routingSecret = settings.required(
            "LATCHKEY_ROUTING_SECRET", .secret(bytes: 32),
            "Makes pseudonyms of e-mail addresses and phone numbers. The same for all services; it can never be changed.")
        let lifetime = settings.value(
            "VERIFICATION_CODE_LIFETIME", .duration(.seconds(1)...Duration.seconds(86_400)), default: .seconds(300),
            "How long a one-time code is good.")
        let attempts = settings.value(
            "VERIFICATION_CODE_ATTEMPTS", .integer(1...100), default: 3, "The wrong code that takes a one-time code away.")
        let sends = settings.value(
            "VERIFICATION_SENDS", .budget, default: Rate(5, per: .seconds(900)), "Codes sent to one identifier for one purpose.")
        let wrongCodes = settings.value(
            "VERIFICATION_WRONG_CODES", .budget, default: Rate(15, per: .seconds(3_600)),
            "Wrong codes for one identifier and purpose, over all codes that were sent.")
        let resetLifetime = settings.value(
            "VERIFICATION_RESET_TOKEN_LIFETIME", .duration(.seconds(1)...Duration.seconds(86_400)), default: .seconds(600),
            "How long a reset token is good.")
        rules = Challenge.Rules(
            lifetime: Interval(lifetime), attempts: attempts, sends: sends.count, sendWindow: Interval(sends.window),
            wrongCodes: wrongCodes.count, wrongCodeWindow: Interval(wrongCodes.window), resetLifetime: Interval(resetLifetime))
    }
}

extension SettingType where Value == Rate {
    /// A limit that holds always. Its window is at most a day, because that much is read at each start.
    fileprivate static var budget: SettingType {
        SettingType(
            expectation: "a limit such as 5/15m, of at most 1000000, in at most a day", placeholder: Rate(1, per: .seconds(1)),
            parse: { text in Rate(text).flatMap { $0.window <= .seconds(86_400) ? $0 : nil } }, render: { $0.description })
    }
}
