import EventLog
import GatewayService
import LogBackends
import LoopService
import Runtime

@main
enum Gateway {
    static func main() {
        let program = ServiceProgram<GatewayConfiguration>(
            "gateway", "The HTTP interface of Latchkey.", subcommands: [migrate], waitsForTurn: false
        ) { configuration, context in
            let common = configuration.common
            let log = ConfiguredLog.make(common)
            return try GatewayService(configuration, context, log: log) { () throws(LogError) in
                try ConfiguredLog.provision(common)
            }.components
        }
        program.main()
    }

    private static let migrate = Subcommand<GatewayConfiguration>.migrate(
        "the schema of the gateways", { [GatewaySchema.migrations] }, over: { GatewayService.database($0.common) })
}
