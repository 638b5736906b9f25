internal import EventLog
internal import LogBackends
internal import LoopService
internal import NotifierService
internal import Runtime

@main
enum Notifier {
    static func main() {
        ServiceProgram<NotifierConfiguration>(
            "notifier", "Delivers the e-mail and SMS of Latchkey.", subcommands: [migrate]
        ) { configuration, context in
            let common = configuration.common
            let log = ConfiguredLog.make(common)
            return try NotifierService(configuration, context, log: log) { () throws(LogError) in
                try ConfiguredLog.provision(common)
            }.components
        }.main()
    }

    private static let migrate = Subcommand<NotifierConfiguration>(
        "migrate", "Brings the schemas of the Notifier up to date, and ends."
    ) { configuration, _, _ in
        try Preparation.apply(NotifierService.migrations(), NotifierService.database(configuration.common))
        return 0
    }
}
