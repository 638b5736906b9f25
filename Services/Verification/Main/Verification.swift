internal import EventLog
internal import LogBackends
internal import Runtime
internal import VerificationService

@main
enum Verification {
    static func main() {
        ServiceProgram<VerificationConfiguration>("verification", "One-time codes of Latchkey.") { configuration, context in
            let common = configuration.common
            let log = ConfiguredLog.make(common)
            return try VerificationService(configuration, context, log: log) { () throws(LogError) in
                try ConfiguredLog.provision(common)
            }.components
        }.main()
    }
}
