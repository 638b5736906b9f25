import Foundation
import JSON
import Testing

extension SystemTests {
    /// What somebody does who has just cloned this.
    @Suite struct FirstStepsTests {
        private let curl = "/usr/bin/curl"

        private func post(_ system: LatchkeySystem, _ path: String, _ body: String) async throws -> (status: String, body: JSON) {
            let result = try await Program.run(
                curl,
                [
                    "-sS", "-X", "POST", "http://localhost:\(system.port)\(path)", "-H", "Content-Type: application/json",
                    "-H", "X-Client-Type: mobile", "-d", body, "-w", "\n%{http_code}",
                ])
            let lines = result.output.split(separator: "\n").map(String.init)
            return (lines.last ?? result.errors, try JSON.parse(lines.first ?? ""))
        }

        @Test func `a code is sent, printed and confirmed with the commands of the documentation`() async throws {
            let system = try await LatchkeySystem.started()
            let sent = try await post(
                system, "/api/verification/send",
                #"{"channel":"email","identifier":"user@example.com","purpose":"email_verification"}"#)
            #expect(sent.status == "200")
            #expect(sent.body == ["success": true, "data": ["expiresIn": 300]])

            let code = try await system.code(for: " User@Example.COM ")
            #expect(code.wholeMatch(of: /[0-9]{6}/) != nil)

            let confirmed = try await post(
                system, "/api/verification/confirm",
                #"{"identifier":"user@example.com","code":"\#(code)","purpose":"email_verification"}"#)
            #expect(confirmed.status == "200")
            #expect(confirmed.body == ["success": true])

            // Every step stands in the log.
            let log = try await system.compose("postgres", ["pg_dump", "--data-only", "--schema", "log"])
            for type in [
                "verification.issue-code.v1", "verification.code-issued.v1", "notifier.delivery-attempted.v1",
                "notifier.delivered.v1",
                "verification.confirm-code.v1", "verification.code-confirmed.v1", "identity.contact-verified.v1",
            ] {
                let hex = type.utf8.map { String(format: "%02x", $0) }.joined()
                #expect(log.output.contains(hex), "no record of type \(type)")
            }

            // A second `up` keeps all data: the code is used up.
            try await system.down()
            try await system.up()
            let again = try await post(
                system, "/api/verification/confirm",
                #"{"identifier":"user@example.com","code":"\#(code)","purpose":"email_verification"}"#)
            #expect(again.status == "400")
            #expect(again.body["error"]?["code"]?.string == "INVALID_OTP")
            try await system.end()
        }
    }
}
