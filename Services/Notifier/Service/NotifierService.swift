internal import Crypto
public import EventLog
internal import EventSchema
internal import HTTP
internal import LoopService
internal import NotifierDomain
public import Postgres
internal import Projections
public import Runtime
internal import Sealing

/// A notifier, put together.
public struct NotifierService: Sendable {
    /// In the order of dependencies: stopped from the last to the first.
    public let components: [any Component]

    /// - Throws: what makes a start pointless: an outbox that cannot be written, templates that cannot be read.
    public init(
        _ configuration: NotifierConfiguration, _ context: ServiceContext, log: any EventLog,
        provision: (@Sendable () throws(LogError) -> Void)? = nil
    ) throws {
        let common = configuration.common
        let authenticator = try RecordAuthenticator(common.macKeys)
        let outbox = try configuration.outbox.map { path throws(Outbox.Failure) in try Outbox(path: path) }
        let own = try configuration.templates.map { path throws(MessageTemplates.Fault) in try TemplateFolder.files(in: path) }
        let templates = try MessageTemplates(own: own ?? [])

        let database = Self.database(common)
        let preparation = try Preparation(
            Self.migrations(), database: database, context: context, provision: provision)
        let keys = Self.sealingKeys(configuration)
        let tables = DeliveryTables(domain: DeliveryPartition(routes: configuration.routes))

        var providers: [any Provider] = [ConsoleProvider(outbox: outbox, logger: context.logger)]
        if let sender = configuration.sender {
            if let key = configuration.resend {
                providers.append(ResendProvider(key: key, sender: sender, logger: context.logger))
            }
            if let smtp = configuration.smtp {
                providers.append(SMTPProvider(smtp, sender: sender, logger: context.logger))
            }
        }
        if let twilio = configuration.twilio {
            providers.append(TwilioProvider(account: twilio.account, origin: twilio.origin, logger: context.logger))
        }
        let desk = DeliveryDesk(
            tables: tables, database: database, providers: providers,
            composer: MessageComposer(opener: keys.opener, templates: templates), context: context)
        let loop = LoopRunner(
            log: log, domain: tables.domain, settings: DeliveryPartition.settings, authenticator: authenticator,
            store: PostgresProjectionStore(tables, connection: database), context: context,
            noticed: { desk.noticed($0) }, happened: { desk.happened($0, isOwner: $1) })
        let driver = loop.driver
        desk.serve(
            DeliveryDesk.Loop(
                writer: loop.writer, now: { driver.now }, submit: { driver.submit($0, partition: $1) }))

        let marks = InboxMarks(
            log: log, schema: "notifier", database: database, settings: DeliveryPartition.settings, status: { driver.status })
        let keeper = KeyKeeper(
            log: log, directory: KeyDirectory(authenticator: authenticator), authenticator: authenticator,
            own: .daily(keys, database: database, isRead: { marks.areRead(past: $0) }), needs: [], context: context)

        let operations = OperationsServer.asked(for: common, context)
        // The desk stops first, so that the loop still hears what became of deliveries.
        components =
            operations + [preparation, preparation.before(keeper), preparation.before(loop), preparation.before(desk)]
    }

    /// The schemas of the Notifier: its projection, and its sealing keys.
    public static func migrations() throws -> [Migrations] {
        [
            try Migrations.projection(
                schema: "notifier", files: [("0002_open_sends.sql", PackageResources._002_open_sends_sql)]),
            try SealingKeyStore.migrations(schema: "notifier_sealing"),
        ]
    }

    static func sealingKeys(_ configuration: NotifierConfiguration) -> SealingKeyStore {
        SealingKeyStore(
            service: .notifier, schema: "notifier_sealing", secret: configuration.secret,
            accepted: configuration.acceptedSecrets, opener: BoxOpener())
    }

    /// Has everybody seal to a new pair soon. Blocks.
    ///
    /// - Returns: its name.
    public static func rotateSealingKey(_ configuration: NotifierConfiguration, log: any EventLog) throws -> String {
        try SealingRotation(
            sealingKeys(configuration), log: log, authenticator: RecordAuthenticator(configuration.common.macKeys),
            database: database(configuration.common)
        ).run().key
    }

    /// Wraps every sealing key under `NOTIFIER_SECRET` itself. Blocks.
    ///
    /// - Returns: how many were wrapped under another secret.
    public static func rewrapKeys(_ configuration: NotifierConfiguration) throws -> Int {
        let connection = try PostgresConnection(database(configuration.common))
        defer { connection.close() }
        return try sealingKeys(configuration).rewrap(over: connection)
    }

    public static func database(_ common: CommonSettings) -> PostgresConnection.Configuration {
        PostgresConnection.Configuration(common.databaseURL, applicationName: "latchkey notifier")
    }
}
