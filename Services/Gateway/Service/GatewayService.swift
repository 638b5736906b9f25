import Crypto
public import EventLog
import EventSchema
public import HTTP
import LoopService
public import Postgres
public import Runtime
import Sealing

/// A gateway, put together.
public struct GatewayService: Sendable {
    /// In the order of dependencies: stopped from the last to the first.
    public let components: [any Component]
    public let application: HTTPApplication
    public let server: HTTPServer

    /// - Parameter provision: makes the log where it is missing; blocks.
    public init(
        _ configuration: GatewayConfiguration, _ context: ServiceContext, log: any EventLog,
        provision: (@Sendable () throws(LogError) -> Void)? = nil
    ) throws {
        let (common, metrics) = (configuration.common, context.metrics)
        let authenticator = try RecordAuthenticator(common.macKeys)

        // Postgres: limits, idempotency keys, and Identity's accounts.
        let pools = GatewayPools(Self.database(common), logger: context.logger, metrics: metrics)
        let preparation = Preparation(
            [GatewaySchema.migrations], database: Self.database(common), context: context, provision: provision)
        let users = UserAnswers(PostgresUserVersions(pools.quick))
        let housekeeping = Housekeeping(pools.quick, users: users, logger: context.logger, metrics: metrics)

        // The log: commands out, replies in, and the keys to seal to.
        let directory = KeyDirectory(authenticator: authenticator)
        let sealer = BoxSealer()
        let time = LogTime()
        let keeper = KeyKeeper(
            log: log, directory: directory, authenticator: authenticator, own: .none,
            needs: [.identity, .notifier, .verification],
            sealers: [sealer], context: context, time: time)
        let replies = ReplyReader(
            log: log, authenticator: authenticator, partitions: common.partitions, time: time, logger: context.logger,
            metrics: metrics, readiness: context.readiness)
        let keys = DirectoryKeys(directory, time: time)
        let commands = CommandSender(replies: replies, authenticator: authenticator, keys: keys, sealer: sealer, metrics: metrics)

        // Tokens, and who they are of no more.
        let revocations = RevocationFollower(
            log: log, authenticator: authenticator, database: Self.database(common), pool: pools.quick, users: users,
            context: context)
        let tokenKeys = TokenKeys(PostgresPublishedKeys(pools.quick, directory: directory))
        let verifier = TokenVerifier(
            keys: tokenKeys, revocations: revocations, issuer: configuration.publicURL, audience: configuration.tokenAudience,
            now: { time.now })

        // HTTP in front of it.
        var api = GatewayAPI(
            routing: Routing(secret: configuration.routingSecret), secret: configuration.secret, rates: configuration.rates,
            counter: PostgresQuotas(pools.quick), answers: PostgresAnswers(pools.durable),
            accounts: PostgresAccounts(pools.quick), devices: PostgresDevices(pools.quick), tokenKeys: tokenKeys,
            verifier: verifier, revocations: revocations, users: users, keys: keys, sealer: sealer, commands: commands,
            metrics: metrics)
        api.acceptedSecrets = configuration.acceptedSecrets
        api.channels = configuration.channels
        api.proofRequired = configuration.proofRequired
        api.trustedProxies = configuration.trustedProxies
        var router = api.router()
        let obstacles: @Sendable () async -> [(name: String, obstacle: String)] = { [readiness = context.readiness] in
            let postgres = await pools.obstacle().map { [(name: pools.name, obstacle: $0)] } ?? []
            return postgres + readiness.obstacles
        }
        let render: @Sendable () async -> String = { metrics.render() }
        router.addOperations(obstacles: obstacles, metrics: render)
        let observer = RequestObserver(logger: context.logger, metrics: metrics, trusting: configuration.trustedProxies)
        application = HTTPApplication(
            router: router, configuration: Self.rules(configuration), failures: APIFailures(), observe: [observer.observe])
        server = HTTPServer(application, Self.listening(configuration))
        metrics.collect { [application, server] in
            [
                Sample("latchkey_http_in_flight", "Requests worked on now.", .gauge, value: Double(application.inFlight)),
                Sample("latchkey_http_connections", "Open connections.", .gauge, value: Double(server.connectionCount)),
            ]
        }

        let components: [any Component] = [
            pools, preparation, preparation.before(keeper), preparation.before(replies), preparation.before(revocations),
            preparation.before(housekeeping), server,
        ]
        self.components = components + OperationsServer.asked(for: common, obstacles: obstacles, metrics: render)
    }

    /// How a connection of a gateway is made.
    public static func database(_ common: CommonSettings) -> PostgresConnection.Configuration {
        PostgresConnection.Configuration(common.databaseURL, applicationName: "latchkey gateway")
    }

    private static func rules(_ configuration: GatewayConfiguration) -> HTTPApplication.Configuration {
        var rules = HTTPApplication.Configuration()
        rules.inFlightLimit = configuration.inFlightLimit
        if !configuration.origins.isEmpty { rules.cors = CORSPolicy(origins: Set(configuration.origins)) }
        return rules
    }

    private static func listening(_ configuration: GatewayConfiguration) -> HTTPServer.Configuration {
        var listening = HTTPServer.Configuration(address: configuration.common.address, port: UInt16(configuration.port))
        listening.tls = configuration.tls
        // Behind a proxy every connection comes from one address.
        if !configuration.trustedProxies.isEmpty { listening.connectionLimitPerAddress = listening.connectionLimit }
        return listening
    }
}
