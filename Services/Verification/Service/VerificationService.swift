internal import Crypto
public import EventLog
internal import EventSchema
internal import HTTP
internal import LoopService
internal import Postgres
public import Runtime
internal import Sealing
public import VerificationDomain

/// A Verification service, put together. It keeps nothing but what stands in the log.
public struct VerificationService: Sendable {
    /// In the order of dependencies: stopped from the last to the first.
    public let components: [any Component]

    /// - Parameter provision: makes the log where it is missing; blocks.
    public init(
        _ configuration: VerificationConfiguration, _ context: ServiceContext, log: any EventLog,
        provision: (@Sendable () throws(LogError) -> Void)? = nil
    ) throws {
        let common = configuration.common
        let authenticator = try RecordAuthenticator(common.macKeys)

        let preparation = Preparation(
            [], database: .init(common.databaseURL, applicationName: "latchkey verification"), context: context,
            provision: provision)
        let keys = VerificationKeys(secret: configuration.secret, accepted: configuration.acceptedSecrets)
        let sealer = BoxSealer()
        let keeper = KeyKeeper(
            log: log, directory: KeyDirectory(authenticator: authenticator), authenticator: authenticator,
            own: .derived(keys.sealing), needs: [.notifier], sealers: [sealer], context: context)

        let notifier = NewestKey(of: .notifier, in: keeper.directory, time: keeper.time)
        let domain = ChallengePartition(
            rules: configuration.rules, keys: keys, routing: Routing(secret: configuration.routingSecret), sealer: sealer,
            notifier: { notifier.current })
        let loop = LoopRunner(
            log: log, domain: domain, settings: Self.settings(configuration.rules), authenticator: authenticator,
            store: NoProjection<ChallengePartition>(), context: context)

        let operations = OperationsServer.asked(for: common, context)
        components = operations + [preparation, preparation.before(keeper), notifier.before(loop)]
    }

    /// The state lies in memory: as much of the past as the longest window of the rules, and as a command may come again at
    /// all (an hour, with an `Idempotency-Key`).
    public static func settings(_ rules: Challenge.Rules) -> LoopSettings {
        LoopSettings(
            service: .verification, storage: .memory(window: max(rules.longestWindow, .hours(1))),
            inboxes: [.verificationCommands],
            events: .verificationEvents)
    }
}
