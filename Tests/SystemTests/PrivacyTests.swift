import Foundation
import HTTP
import Testing

extension SystemTests {
    /// Nothing personal and nothing secret stands anywhere in the database.
    @Suite struct PrivacyTests {
        /// The ways in which a text may stand in a dump or in a file.
        private static func spellings(of text: String) -> [[UInt8]] {
            let bytes = Array(text.utf8)
            let hex = bytes.map { String(format: "%02x", $0) }.joined()
            let wide: [UInt8] = bytes.flatMap { [$0, 0] as [UInt8] }
            // Base64 of a text within others depends on where it begins; what is between two groups is always the same.
            let base64 = (0..<3).map { shift -> String in
                let padded = Data([UInt8](repeating: 0, count: shift) + bytes).base64EncodedString()
                let dropped = shift == 0 ? 0 : 4
                return String(padded.dropFirst(dropped).prefix((shift + bytes.count) / 3 * 4 - dropped))
            }
            let alphabets = base64 + base64.map { $0.replacing("+", with: "-").replacing("/", with: "_") }
            return [bytes, Array(hex.utf8), Array(hex.uppercased().utf8), wide]
                + alphabets.filter { $0.count >= 8 }.map { Array($0.utf8) }
        }

        private static func contains(_ data: Data, _ text: String) -> Bool {
            spellings(of: text).contains { data.range(of: Data($0)) != nil }
        }

        /// Digits that stand alone: not in the middle of a larger number.
        private static func containsNumber(_ data: Data, _ digits: String) -> Bool {
            var start = data.startIndex
            while let found = data.range(of: Data(digits.utf8), in: start..<data.endIndex) {
                let before = found.lowerBound == data.startIndex ? 0 : data[found.lowerBound - 1]
                let after = found.upperBound == data.endIndex ? 0 : data[found.upperBound]
                let isAlone = !(0x30...0x39).contains(before) && !(0x30...0x39).contains(after)
                if isAlone { return true }
                start = found.upperBound
            }
            return spellings(of: digits).dropFirst().contains { data.range(of: Data($0)) != nil }
        }

        @Test func `no byte of the database shows an address, a code or a client`() async throws {
            let system = try await LatchkeySystem.started()
            let visitors = (0..<5).map { _ in Visitor(system) }
            var codes: [String] = []
            for visitor in visitors {
                let headers: Headers = [
                    "Idempotency-Key": "key \(visitor.email)", "User-Agent": "Tester/7.31 (\(visitor.email))",
                ]
                #expect(try await visitor.send(headers: headers).isSuccess)
                let code = try await visitor.code()
                codes.append(code)
                #expect(try await visitor.confirm(Visitor.wrong(code)).error == "INVALID_OTP")
                #expect(try await visitor.confirm(code, headers: headers).isSuccess)
            }
            // Everything goes to the files; the logs of the services belong to what is searched.
            _ = try await system.sql("CHECKPOINT")
            let dump = try await system.compose("postgres", ["pg_dump", "--data-only"])
            #expect(dump.status == 0)
            #expect(dump.output.contains("COPY log."))
            var places: [(name: String, data: Data)] = [("the dump", Data(dump.output.utf8))]
            places += try Self.files(below: system.state + "/postgres")
            places += try Self.files(below: system.state + "/logs").filter { !$0.name.hasSuffix("notifier.log") }
            #expect(places.count > 50)

            for place in places {
                for visitor in visitors {
                    #expect(!Self.contains(place.data, visitor.email), "an e-mail address stands in \(place.name)")
                    let local = String(visitor.email.prefix { $0 != "@" }) + "@"
                    #expect(!Self.contains(place.data, local), "an e-mail address stands in \(place.name)")
                    #expect(!Self.contains(place.data, visitor.address), "a client address stands in \(place.name)")
                }
                #expect(!Self.contains(place.data, "latchkey-test.example"), "a mail domain stands in \(place.name)")
                #expect(!Self.contains(place.data, "Tester/7.31"), "a user agent stands in \(place.name)")
                // Six digits may stand somewhere by chance, but not twice in one place.
                let found = codes.count { Self.containsNumber(place.data, $0) }
                #expect(found < 2, "codes stand in \(place.name)")
            }
            // The search finds what is there.
            let outbox = try Data(contentsOf: URL(fileURLWithPath: system.state + "/outbox.jsonl"))
            #expect(visitors.allSatisfy { Self.contains(outbox, $0.email) })
            #expect(codes.allSatisfy { Self.containsNumber(outbox, $0) })
            try await system.end()
        }

        @Test(arguments: ["", "a", "ab", "abc"])
        func `the search knows hexadecimal, base64 and wide characters`(prefix: String) {
            let secret = "visitor@example.com"
            let bytes = Data((prefix + secret + "!").utf8)
            #expect(Self.contains(bytes, secret))
            #expect(Self.contains(Data(bytes.base64EncodedString().utf8), secret))
            #expect(Self.contains(Data(bytes.map { String(format: "%02x", $0) }.joined().utf8), secret))
            #expect(!Self.contains(Data("visitor@example.org".utf8), secret))
            #expect(Self.containsNumber(Data("x123456y".utf8), "123456"))
            #expect(!Self.containsNumber(Data("x1234567y".utf8), "123456"))
        }

        private static func files(below folder: String) throws -> [(name: String, data: Data)] {
            var found: [(name: String, data: Data)] = []
            let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
            for name in names {
                var isFolder: ObjCBool = false
                let path = "\(folder)/\(name)"
                guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else { continue }
                // Postgres removes files while it runs.
                if let data = FileManager.default.contents(atPath: path) { found.append((name, data)) }
            }
            return found
        }
    }
}
