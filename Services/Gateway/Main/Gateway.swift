import EventLog
import GatewayService
import LogBackends
import Runtime

@main
enum Gateway {
    static func main() {
        let program = ServiceProgram<GatewayConfiguration>("gateway", "The HTTP interface of Latchkey.") {
            configuration, context in
            let common = configuration.common
            let log = ConfiguredLog.make(common)
            return try GatewayService(configuration, context, log: log) { () throws(LogError) in
                try ConfiguredLog.provision(common)
            }.components
        }
        program.main()
    }
}
