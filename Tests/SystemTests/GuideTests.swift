import Foundation
import Testing

extension SystemTests {
    /// Apps that follow the guide of mobile clients: its calls with axios, fetch and curl, in every order of screens, and each
    /// row of its tables of errors. Where the document lies beside this project its own snippets are what is run.
    @Suite(.enabled("needs Node 18 or later, with axios") { try await Node.canRun() }) struct GuideTests {
        private static let shared = Shared(scale: ["gateway": 2, "identity": 2])
        private static let clients = ["axios", "fetch", "curl"]

        /// The only text beside this project in which there is a snippet that confirms a code.
        private static let document: String? = {
            let folder = LatchkeySystem.repository + "/../shared/seeds"
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let found = files.map { "\(folder)/\($0)" }.first { path in
                let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
                return text.contains("```typescript") && text.contains("/api/verification/confirm")
            }
            print(
                found == nil ? "the guide's document is not here: its calls stand in for it" : "the guide's own snippets are run")
            return found
        }()

        /// Runs one part of the scenarios with one client.
        private func follow(_ part: String, with client: String, on system: LatchkeySystem) async throws {
            let program = (Bundle.module.resourcePath ?? "") + "/Guide/guide.js"
            let arguments = [program, "http://127.0.0.1:\(system.port)", system.state + "/outbox.jsonl", client, part]
            let result = try await Node.run(arguments + (Self.document.map { [$0] } ?? []))
            #expect(result.status == 0, "\(client): \(result)")
            #expect(result.output.contains("ok: "))
        }

        @Test(arguments: clients) func `accounts come about in every order of screens`(client: String) async throws {
            try await follow("orders", with: client, on: Self.shared.system())
        }

        @Test(arguments: clients) func `errors are those of the tables`(client: String) async throws {
            try await follow("errors", with: client, on: Self.shared.system())
        }

        @Test func `what is late is told what is wrong`() async throws {
            let system = try await LatchkeySystem.started([
                "VERIFICATION_CODE_LIFETIME": "2s", "VERIFICATION_RESET_TOKEN_LIFETIME": "2s",
            ])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in Self.clients { group.addTask { try await follow("lateness", with: client, on: system) } }
                try await group.waitForAll()
            }
            try await system.end()
        }
    }
}
