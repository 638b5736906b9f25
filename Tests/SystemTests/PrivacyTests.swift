import Foundation
import Glibc
import HTTP
import JSON
import Testing

extension SystemTests {
    /// Nothing personal and nothing secret stands anywhere in the database.
    @Suite struct PrivacyTests {
        @Test func `no byte of the database shows an address, a code or a client`() async throws {
            let system = try await LatchkeySystem.started()
            let visitors = (0..<5).map { _ in Visitor(system) }
            var codes: [String] = []
            for visitor in visitors {
                // A request's id is logged, as the client gave it, and stands nowhere else.
                let headers: Headers = [
                    "Idempotency-Key": "key \(visitor.email)", "User-Agent": "Tester/7.31 (\(visitor.email))",
                    "X-Request-Id": "request.of.\(visitor.email.prefix { $0 != "@" })",
                ]
                #expect(try await visitor.send(headers: headers).isSuccess)
                let code = try await visitor.code()
                codes.append(code)
                #expect(try await visitor.confirm(Visitor.wrong(code)).error == "INVALID_OTP")
                #expect(try await visitor.confirm(code, headers: headers).isSuccess)
            }
            let remains = try await Remains.collected(from: system)
            let emails = visitors.map { String($0.email.prefix { $0 != "@" }) + "@" }
            #expect(try await remains.files(containing: emails) == [])
            #expect(try await remains.files(containing: visitors.map(\.address)) == [])
            #expect(try await remains.files(containing: ["latchkey-test.example", "Tester/7.31"]) == [])
            #expect(try await ByteSearch.files(containing: ["request.of."], in: remains.stored) == [])
            #expect(try await remains.files(containingCodes: codes) == [])

            // The search finds what is there.
            let outbox = [system.state + "/outbox.jsonl"]
            #expect(try await ByteSearch.files(containing: emails, in: outbox) == outbox)
            #expect(try await ByteSearch.files(containingNumber: codes[0], in: outbox) == outbox)
            #expect(try await ByteSearch.files(containing: ["verification.code-issued.v1"], in: remains.stored) != [])
            try await system.end()
        }

        @Test func `no byte anywhere shows what an account is made of`() async throws {
            let system = try await LatchkeySystem.started()
            var persons: [Person] = []
            for _ in 0..<3 {
                var person = Person(Visitor(system))
                try await person.live()
                persons.append(person)
            }
            let imported = try await importUsers(into: system)
            let before = Date()
            try await persons[0].erase()
            try await replay(system, asOf: before)
            try await eventually("the last code is delivered") {
                try persons.allSatisfy {
                    try system.deliveries(to: $0.visitor.email).count { $0["code"] != nil } >= $0.codes.count
                }
            }

            let remains = try await Remains.collected(from: system)
            for person in persons {
                #expect(try await remains.files(containing: person.facts) == [], "facts of a person")
                #expect(try await remains.files(containing: person.secrets) == [], "secrets of a person")
                #expect(try await remains.files(containing: Tokens.spellings(person.tokens)) == [], "tokens of a person")
            }
            #expect(try await remains.files(containingCodes: persons.flatMap(\.codes)) == [])
            #expect(try await remains.files(containing: imported) == [])
            #expect(try await remains.files(containing: ["$argon2id$"]) == [])
            // The search finds what is there.
            for type in [
                "identity.user-registered.v1", "identity.password-reset.v1", "identity.user-erased.v1",
                "identity.user-imported.v1", "as of 20",
            ] {
                #expect(try await ByteSearch.files(containing: [type], in: remains.stored) != [], "no \(type)")
            }
            try await system.end()
        }

        /// Makes the tables anew, and those of a time at which nobody was erased: the log tells no more than the tables.
        private func replay(_ system: LatchkeySystem, asOf before: Date) async throws {
            func run(_ arguments: String...) async throws -> String {
                let result = try await system.compose("run", ["identity"] + arguments)
                #expect(result.status == 0, "\(arguments): \(result)")
                return result.output
            }
            _ = try await run("rebuild")
            let exact = ISO8601DateFormatter()
            exact.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
            let schema = try await run("as-of", exact.string(from: before)).trimmingCharacters(in: .whitespacesAndNewlines)
            // Three persons and two users who were imported, of whom one is gone.
            for schema in ["identity", schema] {
                #expect(try await system.sql("SELECT count(*) FROM \(schema).identifiers") == ["4"])
                #expect(try await system.sql("SELECT count(*) FROM \(schema).users WHERE erased_at IS NOT NULL") == ["1"])
            }
            _ = try await run("rebuild", "--verify")
            _ = try await run("rebuild", "--drop-old")
        }

        /// Users of another system, one with a number. Gives what must stand nowhere.
        private func importUsers(into system: LatchkeySystem) async throws -> [String] {
            let hash = "$2b$04$abcdefghijklmnopqrstuu5LvGKNvCk3pYhgkSMSFIkVSbLfHbGDa"
            let lines: [JSON] = [
                ["phoneNumber": "+12025550148", "passwordHash": .string(hash), "profile": ["givenName": "Cadwallader"]],
                ["email": "quillfeather@latchkey-test.example", "passwordHash": .string(hash)],
            ]
            let file = system.folder + "/users.jsonl"
            try lines.map(\.description).joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
            let result = try await system.operate("identity", ["import", file])
            unlink(file)
            #expect(result.output.hasPrefix("2 imported"), "\(result)")
            return ["2025550148", "Cadwallader", "quillfeather", hash]
        }

        @Test(arguments: ["", "a", "ab", "abc"])
        func `the search knows hexadecimal and base64`(prefix: String) async throws {
            let folder = NSTemporaryDirectory() + "latchkey-search-" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let secret = "visitor@example.com"
            let bytes = Data((prefix + secret + "!").utf8)
            try (Data([0, 1, 0xff]) + bytes + Data([0])).write(to: URL(fileURLWithPath: folder + "/raw"))
            try Data(bytes.base64EncodedString().utf8).write(to: URL(fileURLWithPath: folder + "/base64"))
            try Data(bytes.map { String(format: "%02x", $0) }.joined().utf8).write(to: URL(fileURLWithPath: folder + "/hex"))
            try Data("visitor@example.org 1234567 x654321".utf8).write(to: URL(fileURLWithPath: folder + "/other"))
            #expect(
                try await ByteSearch.files(containing: [secret], in: [folder]).sorted()
                    == ["base64", "hex", "raw"].map { "\(folder)/\($0)" })
            #expect(try await ByteSearch.files(containingNumber: "123456", in: [folder]) == [])
            #expect(try await ByteSearch.files(containingNumber: "654321", in: [folder]) == ["\(folder)/other"])
        }
    }
}
