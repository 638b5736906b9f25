public import Crypto
public import Runtime

/// Identity's settings.
public struct IdentityConfiguration: ServiceConfiguration {
    public let common: CommonSettings
    public let secret: Secret

    public init(from settings: Settings) {
        common = CommonSettings(from: settings)
        secret = settings.required(
            "IDENTITY_SECRET", .secret(bytes: 32),
            "Wraps the keys that are kept in identity_keys and identity_sealing. The same for all instances of Identity.")
    }
}
