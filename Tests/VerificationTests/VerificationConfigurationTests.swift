import EventSchema
import Runtime
import Testing
import VerificationDomain
import VerificationService

@Suite struct VerificationConfigurationTests {
    static let required = [
        "LATCHKEY_DATABASE_URL": "postgres:///latchkey", "LATCHKEY_LOG_MAC_KEYS": "1:" + String(repeating: "ab", count: 32),
        "LATCHKEY_ROUTING_SECRET": String(repeating: "ef", count: 32),
        "VERIFICATION_SECRET": String(repeating: "cd", count: 32),
    ]

    private func load(_ variables: [String: String]) throws(ConfigurationError) -> VerificationConfiguration {
        let all = Self.required.merging(variables) { _, new in new }
        return try VerificationConfiguration.load(from: Environment(all)).configuration
    }

    @Test func `the rules of the contract are the default`() throws {
        #expect(try load([:]).rules == Challenge.Rules())
    }

    @Test func `every number of the rules can be set`() throws {
        let rules = try load([
            "VERIFICATION_CODE_LIFETIME": "10m", "VERIFICATION_CODE_ATTEMPTS": "4", "VERIFICATION_SENDS": "2/1h",
            "VERIFICATION_WRONG_CODES": "9/1d",
        ]).rules
        let expected = Challenge.Rules(
            lifetime: .minutes(10), attempts: 4, sends: 2, sendWindow: .hours(1), wrongCodes: 9, wrongCodeWindow: .days(1))
        #expect(rules == expected)
    }

    @Test func `all faults are told together`() {
        let error = #expect(throws: ConfigurationError.self) {
            try load([
                "VERIFICATION_SECRET": "short", "VERIFICATION_CODE_LIFETIME": "5", "VERIFICATION_CODE_ATTEMPTS": "0",
                "VERIFICATION_SENDS": "off", "VERIFICATION_WRONG_CODES": "9/2d",
            ])
        }
        #expect(
            Set(error?.faults.map(\.variable) ?? []) == [
                "VERIFICATION_SECRET", "VERIFICATION_CODE_LIFETIME", "VERIFICATION_CODE_ATTEMPTS", "VERIFICATION_SENDS",
                "VERIFICATION_WRONG_CODES",
            ])
    }
}
