import EventLog
import GatewayService
import LogBackends
import LoopService
import Runtime

@main
enum Gateway {
    static func main() {
        let program = ServiceProgram<GatewayConfiguration>(
            "gateway", "The HTTP interface of Latchkey.", subcommands: [migrate]
        ) { configuration, context in
            let common = configuration.common
            let log = ConfiguredLog.make(common)
            return try GatewayService(configuration, context, log: log) { () throws(LogError) in
                try ConfiguredLog.provision(common)
            }.components
        }
        program.main()
    }

    private static let migrate = Subcommand<GatewayConfiguration>(
        "migrate", "Brings the schema of the gateways up to date, and ends."
    ) { configuration, _, _ in
        try Preparation.apply([GatewaySchema.migrations], GatewayService.database(configuration.common))
        return 0
    }
}
