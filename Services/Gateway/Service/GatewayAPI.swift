public import Crypto
public import EventSchema
public import HTTP
public import Runtime

/// The routes of a gateway, without what stands behind them: the same for servers and tests.
public struct GatewayAPI: Sendable {
    public var channels = VerificationChannels()
    public var trustedProxies: [AddressBlock] = []
    public var routing: Routing
    public var secret: Secret
    /// Others under which answers may have been kept.
    public var acceptedSecrets: [Secret] = []
    public var rates: [Limit: Rate]
    public var counter: any QuotaCounter
    public var answers: any AnswerStore
    public var accounts: any AccountDirectory
    public var devices: any DeviceDirectory
    public var tokenKeys: TokenKeys
    public var verifier: TokenVerifier
    public var revocations: any Revocations
    public var users: UserAnswers
    /// Whether a sign-up is told of an account, or makes one, only with a code.
    public var proofRequired = false
    public var keys: any RecipientKeys
    public var sealer: BoxSealer
    public var commands: any CommandPath
    public var metrics: Metrics
    /// How long a gateway may be silent about a request with an idempotency key before another one takes it over.
    public var lease: Duration = .seconds(3)
    /// Waits for the time of an answer; ends early with the request.
    var pause: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0, tolerance: .zero) }

    public init(
        routing: Routing, secret: Secret, rates: [Limit: Rate], counter: any QuotaCounter, answers: any AnswerStore,
        accounts: any AccountDirectory, devices: any DeviceDirectory, tokenKeys: TokenKeys, verifier: TokenVerifier,
        revocations: any Revocations, users: UserAnswers, keys: any RecipientKeys, sealer: BoxSealer,
        commands: any CommandPath, metrics: Metrics
    ) {
        self.routing = routing
        self.secret = secret
        self.rates = rates
        self.counter = counter
        self.answers = answers
        self.accounts = accounts
        self.devices = devices
        self.tokenKeys = tokenKeys
        self.verifier = verifier
        self.revocations = revocations
        self.users = users
        self.keys = keys
        self.sealer = sealer
        self.commands = commands
        self.metrics = metrics
    }

    /// A request passes, from the outside: what is away → its address → its JSON → its idempotency key → the endpoint, which
    /// counts it, reads its fields, and sends its command.
    public func router() -> Router {
        let limiter = Limiter(
            rates: rates, counter: counter,
            key: HKDFSHA256.derive(secret: secret, info: Array("latchkey.gateway.limits.v1".utf8), count: 32),
            metrics: metrics)
        let services = EndpointServices(
            channels: channels, routing: routing, limiter: limiter, accounts: accounts, devices: devices, keys: keys,
            sealer: sealer, commands: BucketedTiming(commands: commands, pause: pause), passwords: PasswordWork(metrics: metrics),
            verifier: verifier, revocations: revocations, users: users, proofRequired: proofRequired)
        let routes = EndpointRoutes(services: services)
        let failFast = FailFast(metrics: metrics)

        var router = Router()
        router.group(
            "/api",
            middleware: [
                failFast, FindClient(trusting: trustedProxies), ReadJSON(),
                Idempotency(store: answers, secret: secret, accepted: acceptedSecrets, lease: lease),
            ]
        ) { router in
            routes.add(to: &router)
        }
        router.get("/.well-known/jwks.json", middleware: [failFast], KeySet(keys: tokenKeys).answer)
        let document = Response.json(OpenAPIDocument.make(channels), headers: ["Cache-Control": "public, max-age=300"])
        router.get("/openapi.json") { _, _ in document }
        return router
    }
}
