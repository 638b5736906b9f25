public import Crypto
public import HTTP
import Identifiers
public import Runtime

/// Whether who signs up has to prove that the identifier is theirs.
private enum ProofRule: String, CaseIterable, Sendable { case optional, required }

/// What a gateway is told by its environment.
public struct GatewayConfiguration: ServiceConfiguration {
    public let common: CommonSettings
    public let port: Int
    /// Makes subjects of identifiers; the same for all services, for ever.
    public let routingSecret: Secret
    /// The gateways' own: hides addresses in the database, seals kept answers.
    public let secret: Secret
    /// Others under which answers may have been kept.
    public let acceptedSecrets: [Secret]
    public let trustedProxies: [AddressBlock]
    public let origins: [String]
    public let tls: HTTPServer.TLS?
    public let channels: VerificationChannels
    /// Where clients reach the API: the issuer of tokens.
    public let publicURL: String
    /// Whom access tokens are for.
    public let tokenAudience: String
    /// Whether a sign-up is told of an account, or makes one, only with a code.
    public let proofRequired: Bool
    /// Requests that are worked on at once.
    public let inFlightLimit: Int
    /// Limits that are not switched off.
    public let rates: [Limit: Rate]

    public init(from settings: Settings) {
        common = CommonSettings(from: settings)
        port = settings.value(
            "LATCHKEY_PORT", aliases: ["PORT"], .integer(0...65_535), default: 3001, "TCP port of the API; 0: any that is free.")
        routingSecret = settings.required(
            "LATCHKEY_ROUTING_SECRET", .secret(bytes: 32),
            "Makes pseudonyms of e-mail addresses and phone numbers. The same for all services; it can never be changed.")
        secret = settings.required(
            "GATEWAY_SECRET", .secret(bytes: 32),
            "Hides client addresses in the database and encrypts answers kept for an Idempotency-Key. The same for all gateways.")
        acceptedSecrets = settings.value(
            "GATEWAY_SECRET_ACCEPTED", .secrets(bytes: 32), default: [],
            "While GATEWAY_SECRET is replaced: other secrets under which answers may have been kept, first the new one, then the old one for an hour."
        )
        let networks = settings.value(
            "TRUSTED_PROXIES", .networks, default: [], "Proxies whose X-Forwarded-For is believed: addresses and CIDR networks.")
        trustedProxies = networks.compactMap { text in
            let block = AddressBlock(text)
            if block == nil { settings.fault("TRUSTED_PROXIES", "names \(text), where bits are set behind the prefix") }
            return block
        }
        origins = settings.value(
            "CORS_ORIGINS", .list, default: [], "Browser origins that may call the API, such as https://app.example.com.")
        for origin in origins where !Self.isOrigin(origin) {
            settings.fault("CORS_ORIGINS", "names \(origin), which is not an origin such as https://app.example.com")
        }
        let certificate = settings.optional(
            "TLS_CERTIFICATE", .text, "PEM file of the certificate chain. With it the API is HTTPS.")
        let key = settings.optional("TLS_KEY", .text, "PEM file of the certificate's private key.")
        if certificate != nil, key == nil { settings.fault("TLS_KEY", "is not set, although TLS_CERTIFICATE is") }
        if certificate == nil, key != nil { settings.fault("TLS_CERTIFICATE", "is not set, although TLS_KEY is") }
        tls = certificate.flatMap { certificate in key.map { HTTPServer.TLS(certificateFile: certificate, keyFile: $0) } }
        let hasSMS = settings.value(
            "SMS_ENABLED", .flag, default: false, "Whether phone numbers can be verified: the Notifier has an SMS provider.")
        let region = settings.optional(
            "PHONE_REGION", .text, "Country (ISO 3166-1, such as US) whose phone numbers may be entered without a country code.")
        if let region, PhoneNumber.Region(region) == nil {
            settings.fault("PHONE_REGION", "is not a country's two-letter code")
        }
        channels = VerificationChannels(hasSMS: hasSMS, region: region.flatMap(PhoneNumber.Region.init))
        publicURL = settings.value(
            "PUBLIC_URL", .text, default: "http://localhost:3001",
            "Where clients reach the API: the issuer of tokens. The same for gateways and Identity.")
        if WebAddress(publicURL) == nil { settings.fault("PUBLIC_URL", "is no URL") }
        tokenAudience =
            settings.optional(
                "TOKEN_AUDIENCE", .text, "Whom access tokens are for; unset: the issuer. The same for gateways and Identity.")
            ?? publicURL
        let proof = settings.value(
            "SIGNUP_PROOF", .choice, default: ProofRule.optional,
            "With required, only who proves an address makes an account of it, or is told that it has one.")
        proofRequired = proof == .required
        inFlightLimit = settings.value(
            "MAX_IN_FLIGHT", .integer(1...100_000), default: 1_024, "Requests worked on at once. What is over gets 503 at once.")
        var rates: [Limit: Rate] = [:]
        for limit in Limit.allCases {
            let rate = settings.value(limit.variable, .rate, default: limit.standard, limit.summary)
            if let rate, rate.count > Self.largestCount {
                settings.fault(limit.variable, "is more than \(Self.largestCount); off is no limit")
            }
            rates[limit] = rate
        }
        self.rates = rates
    }

    /// The time of every request within a window is kept.
    private static let largestCount = 10_000

    /// Scheme, host and port as a browser writes them, compared exactly later on.
    private static func isOrigin(_ text: String) -> Bool {
        guard let address = WebAddress(text) else { return false }
        return address.path.isEmpty && ["http", "https"].contains(address.scheme) && text == text.lowercased()
    }
}
