internal import EventLog
internal import LogBackends
internal import LoopService
internal import NotifierService
internal import Runtime

@main
enum Notifier {
    static func main() {
        ServiceProgram<NotifierConfiguration>(
            "notifier", "Delivers the e-mail and SMS of Latchkey.", subcommands: [migrate, keys, sealing, failed, retry]
        ) { configuration, context in
            let common = configuration.common
            let log = ConfiguredLog.make(common)
            return try NotifierService(configuration, context, log: log) { () throws(LogError) in
                try ConfiguredLog.provision(common)
            }.components
        }.main()
    }

    private static let migrate = Subcommand<NotifierConfiguration>.migrate(
        "the schemas of the Notifier", { try NotifierService.migrations() }, over: { NotifierService.database($0.common) })

    private static let keys = Subcommand<NotifierConfiguration>(
        "keys", "rewrap: wraps the sealing keys under NOTIFIER_SECRET, so that what is accepted beside it can go."
    ) { configuration, _, arguments in
        guard arguments == ["rewrap"] else { return ExitStatus.usage("notifier keys rewrap") }
        let count = try await BlockingPool.runOnce(name: "subcommand") { try NotifierService.rewrapKeys(configuration) }
        print("\(count) keys were wrapped anew")
        return 0
    }

    private static let sealing = Subcommand<NotifierConfiguration>.sealing("notifier", of: "the Notifier") { configuration in
        "\(try NotifierService.rotateSealingKey(configuration, log: ConfiguredLog.make(configuration.common)))"
    }

    private static let failed = Subcommand<NotifierConfiguration>(
        "failed", "Lists the messages that failed for good, or whose outcome cannot be known."
    ) { configuration, _, arguments in
        guard arguments.isEmpty || arguments == ["list"] else { return ExitStatus.usage("notifier failed [list]") }
        let database = NotifierService.database(configuration.common)
        print(try await BlockingPool.runOnce(name: "subcommand") { try StoppedSends(database: database).table() }, terminator: "")
        return 0
    }

    private static let retry = Subcommand<NotifierConfiguration>(
        "retry", "ID: asks the running notifiers for another attempt at such a message."
    ) { configuration, _, arguments in
        guard let id = arguments.first, arguments.count == 1 else { return ExitStatus.usage("notifier retry ID") }
        let common = configuration.common
        let answer = try await BlockingPool.runOnce(name: "subcommand") {
            try RetryRequest(
                log: ConfiguredLog.make(common), authenticator: RecordAuthenticator(common.macKeys),
                sends: StoppedSends(database: NotifierService.database(common))
            ).perform(id)
        }
        print(answer)
        return answer == .accepted ? 0 : ExitStatus.failure
    }
}
