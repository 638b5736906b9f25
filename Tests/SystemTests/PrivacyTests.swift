import Foundation
import HTTP
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
            // Everything goes to the files: pages, the write-ahead log, and a dump of what SQL shows.
            _ = try await system.sql("CHECKPOINT")
            let dump = try await system.compose("postgres", ["pg_dump", "--data-only"])
            #expect(dump.status == 0)
            #expect(dump.output.contains("COPY log.lasting_records"))
            try dump.output.write(toFile: system.folder + "/dump.sql", atomically: false, encoding: .utf8)
            let database = [system.state + "/postgres", system.folder + "/dump.sql"]
            // Deliveries of the console are the one exception.
            let logs = ["gateway", "verification", "identity", "postgres"].map { "\(system.state)/logs/\($0).log" }
            let outbox = [system.state + "/outbox.jsonl"]

            let emails = visitors.map { String($0.email.prefix { $0 != "@" }) + "@" }
            #expect(try await ByteSearch.files(containing: emails, in: database + logs) == [])
            #expect(try await ByteSearch.files(containing: visitors.map(\.address), in: database + logs) == [])
            #expect(try await ByteSearch.files(containing: ["latchkey-test.example", "Tester/7.31"], in: database + logs) == [])
            #expect(try await ByteSearch.files(containing: ["request.of."], in: database) == [])
            // Six digits may stand somewhere by chance, but not those of two codes in one place.
            var places: [String: Int] = [:]
            for code in codes {
                for place in try await ByteSearch.files(containingNumber: code, in: database + logs) {
                    places[place, default: 0] += 1
                }
            }
            #expect(places.filter { $0.value > 1 } == [:])

            // The search finds what is there.
            #expect(try await ByteSearch.files(containing: emails, in: outbox) == outbox)
            #expect(try await ByteSearch.files(containingNumber: codes[0], in: outbox) == outbox)
            #expect(try await ByteSearch.files(containing: ["verification.code-issued.v1"], in: database).count > 1)
            try await system.end()
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
