internal import AttachedProjections
internal import Crypto
public import EventLog
internal import EventSchema
internal import HTTP
internal import LoopService
public import Postgres
internal import Projections
public import Runtime
internal import Sealing

/// An Identity service, put together.
public struct IdentityService: Sendable {
    /// In the order of dependencies: stopped from the last to the first.
    public let components: [any Component]

    public init(
        _ configuration: IdentityConfiguration, _ context: ServiceContext, log: any EventLog,
        provision: (@Sendable () throws(LogError) -> Void)? = nil
    ) throws {
        let common = configuration.common
        let authenticator = try RecordAuthenticator(common.macKeys)
        let database = Self.database(common)
        let preparation = try Preparation(Self.migrations(), database: database, context: context, provision: provision)

        let signingKeys = SigningKeys()
        let directory = KeyDirectory(authenticator: authenticator)
        let signing = SigningKeyKeeper(
            signingKeys, log: log, directory: directory, authenticator: authenticator, secret: configuration.secret,
            accepted: configuration.acceptedSecrets, algorithm: configuration.tokenAlgorithm, age: configuration.signingKeyAge,
            database: database, context: context)

        let sealer = BoxSealer()
        let opener = BoxOpener()
        let time = LogTime()
        let ownKey = NewestKey(of: .identity, in: directory, time: time)
        let minting = SignedTokens(
            keys: signingKeys, issuer: configuration.publicURL, audience: configuration.tokenAudience,
            accessLifetime: configuration.accessLifetime)
        let routing = Routing(secret: configuration.routingSecret)
        let tables = IdentityTables(
            domain: IdentityPartition(
                routing: routing, minting: minting, opener: opener, sealer: sealer,
                ownKey: { ownKey.current }))
        let loop = LoopRunner(
            log: log, domain: tables.domain, settings: IdentityPartition.settings, authenticator: authenticator,
            store: PostgresProjectionStore(tables, connection: database), context: context)
        let driver = loop.driver

        let expiry = OnboardingExpiry(driver, database: database, logger: context.logger)
        let unusedKeys = UnusedKeys(log: log, database: database, logger: context.logger)

        let keys = Self.sealingKeys(configuration, opener: opener)
        let checks = try CheckRunner(
            log: log, authenticator: authenticator, secret: configuration.secret,
            accepted: configuration.acceptedSecrets, routing: routing, opener: opener,
            sealer: sealer, notifier: { time.now.flatMap { directory.recipient(.notifier, at: $0) } },
            cost: configuration.passwordCost,
            threads: HTTPServer.availableProcessors, database: database, context: context, time: time)
        let marks = InboxMarks(
            log: log, schema: "identity", database: database, settings: IdentityPartition.settings, status: { driver.status },
            others: [InboxMarks.Reader(name: "checks", topics: CheckRunner.inboxes, offsets: { checks.done })])
        let keeper = KeyKeeper(
            log: log, directory: directory, authenticator: authenticator,
            own: .daily(keys, database: database, isRead: { marks.areRead(past: $0) }), needs: [], sealers: [sealer],
            context: context, time: time)

        let daily = configuration.dailyFigures.map { start in
            AttachedRunner(
                DailyFigures(), log: log, authenticator: authenticator, database: database, since: start.time, context: context)
        }

        let operations = OperationsServer.asked(for: common, context)
        components =
            operations + [
                preparation, preparation.before(keeper), preparation.before(signing),
                signing.before(ownKey.before(preparation.before(loop))), preparation.before(expiry),
                preparation.before(unusedKeys),
                ownKey.before(preparation.before(checks)),
            ] + (daily.map { [preparation.before($0)] } ?? [])
    }

    /// The schemas of Identity: its projection, its sealing keys, and the keys that are backed up.
    public static func migrations() throws -> [Migrations] {
        [
            try Migrations.projection(
                schema: "identity",
                files: [
                    ("0002_accounts.sql", PackageResources._002_accounts_sql),
                    ("0003_homes.sql", PackageResources._003_homes_sql),
                    ("0004_revocations.sql", PackageResources._004_revocations_sql),
                    ("0005_user_versions.sql", PackageResources._005_user_versions_sql),
                    ("0006_accounts_by_key.sql", PackageResources._006_accounts_by_key_sql),
                ]),
            try SealingKeyStore.migrations(schema: "identity_sealing"),
            try IdentityKeys.migrations(),
            try RestoredKeys.migrations(),
        ]
    }

    static func sealingKeys(_ configuration: IdentityConfiguration, opener: BoxOpener = BoxOpener()) -> SealingKeyStore {
        SealingKeyStore(
            service: .identity, schema: "identity_sealing", secret: configuration.secret,
            accepted: configuration.acceptedSecrets, opener: opener)
    }

    /// Has everybody seal to a new pair soon. Blocks.
    ///
    /// - Returns: its name.
    public static func rotateSealingKey(_ configuration: IdentityConfiguration, log: any EventLog) throws -> String {
        try SealingRotation(
            sealingKeys(configuration), log: log, authenticator: RecordAuthenticator(configuration.common.macKeys),
            database: database(configuration.common)
        ).run().key
    }

    public static func database(_ common: CommonSettings) -> PostgresConnection.Configuration {
        PostgresConnection.Configuration(common.databaseURL, applicationName: "latchkey identity")
    }
}
