internal import EventLog
internal import IdentityService
internal import LogBackends
internal import LoopService
internal import Runtime

@main
enum Identity {
    static func main() {
        ServiceProgram<IdentityConfiguration>(
            "identity", "Users, sessions and verified addresses of Latchkey.", subcommands: [migrate]
        ) { configuration, context in
            let common = configuration.common
            let log = ConfiguredLog.make(common)
            return try IdentityService(configuration, context, log: log) { () throws(LogError) in
                try ConfiguredLog.provision(common)
            }.components
        }.main()
    }

    private static let migrate = Subcommand<IdentityConfiguration>(
        "migrate", "Brings the schemas of Identity up to date, and ends."
    ) { configuration, _, _ in
        try Preparation.apply(IdentityService.migrations(), IdentityService.database(configuration.common))
        return 0
    }
}
