internal import LogBackends
internal import Runtime
internal import VerificationService

@main
enum Verification {
    static func main() {
        ServiceProgram<VerificationConfiguration>("verification", "One-time codes of Latchkey.") { configuration, context in
            try VerificationService(configuration, context, log: ConfiguredLog.make(configuration.common)).components
        }.main()
    }
}
