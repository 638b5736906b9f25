import HTTP
import JSON
import Testing

extension SystemTests {
    /// The rules of the API, through all four services: two of each, so that nothing rests on one process alone.
    @Suite struct ConfirmationTests {
        private static let shared = Shared(scale: ["gateway": 2, "verification": 2, "identity": 2, "notifier": 2])

        private func visitor(gateway: Int = 1) async throws -> Visitor {
            Visitor(try await Self.shared.system(), gateway: gateway)
        }

        @Test func `of 50 parallel confirmations over two gateways exactly one succeeds`() async throws {
            for _ in 0..<3 {
                var first = try await visitor()
                #expect(try await first.send().isSuccess)
                let code = try await first.code()
                let answers = try await withThrowingTaskGroup(of: Visitor.Answer.self) { group in
                    for number in 0..<50 {
                        first.gateway = number % 2 + 1
                        let visitor = first
                        // The limit per address is not what is tried here.
                        group.addTask { try await visitor.confirm(code, headers: ["X-Forwarded-For": "203.0.113.\(number + 1)"]) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.count { $0.isSuccess } == 1)
                #expect(answers.count { $0.error == "INVALID_OTP" } + answers.count { $0.error == "MAX_ATTEMPTS_EXCEEDED" } == 49)
            }
        }

        @Test func `the third wrong code takes the code away, and a new one starts afresh`() async throws {
            let visitor = try await visitor()
            #expect(try await visitor.send().isSuccess)
            let code = try await visitor.code()
            let wrong = Visitor.wrong(code)
            #expect(try await visitor.confirm(wrong).error == "INVALID_OTP")
            #expect(try await visitor.confirm(wrong).error == "INVALID_OTP")
            let third = try await visitor.confirm(wrong)
            #expect(third.status == 400)
            #expect(third.error == "MAX_ATTEMPTS_EXCEEDED")
            #expect(third.body?["error"]?["message"]?.string == "Too many wrong codes. Request a new one.")
            #expect(try await visitor.confirm(code).error == "INVALID_OTP")

            #expect(try await visitor.send().isSuccess)
            let next = try await visitor.code(after: 2)
            #expect(try await visitor.confirm(Visitor.wrong(next)).error == "INVALID_OTP")
            #expect(try await visitor.confirm(" \(next) ").isSuccess)
            #expect(try await visitor.confirm(next).error == "INVALID_OTP")
        }

        @Test func `a new code replaces the one before it`() async throws {
            let visitor = try await visitor()
            #expect(try await visitor.send().isSuccess)
            let old = try await visitor.code()
            #expect(try await visitor.send().isSuccess)
            let new = try await visitor.code(after: 2)
            if old != new { #expect(try await visitor.confirm(old).error == "INVALID_OTP") }
            #expect(try await visitor.confirm(new).isSuccess)
        }

        @Test func `the sixth send answers like the others and sends nothing`() async throws {
            let visitor = try await visitor()
            for _ in 0..<6 {
                let answer = try await visitor.send()
                #expect(answer.status == 200)
                #expect(answer.body == ["success": true, "data": ["expiresIn": 300]])
            }
            // What comes after the sixth in the same partition shows that it is done.
            let code = try await visitor.code(after: 5)
            #expect(try await visitor.confirm(code).isSuccess)
            #expect(try visitor.system.deliveries(to: visitor.email).count == 5)
        }

        @Test func `two spellings of one address are one`() async throws {
            let visitor = try await visitor()
            #expect(try await visitor.send(to: " \(visitor.email.uppercased()) ").isSuccess)
            let code = try await visitor.code()
            let spelling = visitor.email.prefix(1).uppercased() + visitor.email.dropFirst()
            #expect(try await visitor.confirm(code, to: spelling).isSuccess)
            #expect(try await visitor.confirm(code).error == "INVALID_OTP")
        }

        @Test(arguments: ["phone_verification", "login", "", "EMAIL_VERIFICATION"])
        func `an unknown purpose is a field error`(purpose: String) async throws {
            let answer = try await visitor().send(purpose: purpose)
            #expect(answer.status == 400)
            #expect(answer.error == "VALIDATION_ERROR")
            #expect(answer.body?["error"]?["fields"]?.array?.map { $0["path"]?.string } == ["purpose"])
        }

        @Test func `every wrong field is named, in the order of the contract`() async throws {
            let answer = try await visitor().post(
                "/api/verification/send", ["channel": 5, "identifier": "nobody", "purpose": nil])
            #expect(answer.error == "VALIDATION_ERROR")
            #expect(answer.body?["error"]?["fields"]?.array?.map { $0["path"]?.string } == ["channel", "identifier", "purpose"])
        }

        @Test(arguments: ["{", "[]", "\"x\"", #"{"channel":"email","channel":"email"}"#, "{} {}", "\u{1}"])
        func `a malformed body is a field error`(text: String) async throws {
            let answer = try await visitor().post("/api/verification/send", text: text)
            #expect(answer.status == 400)
            #expect(answer.error == "VALIDATION_ERROR")
            #expect(answer.headers["X-Request-Id"] != nil)
            #expect(answer.headers["Cache-Control"] == "no-store")
        }

        @Test func `a malformed code costs no attempt`() async throws {
            let visitor = try await visitor()
            #expect(try await visitor.send().isSuccess)
            let code = try await visitor.code()
            for malformed in ["12345", "1234567", "12345a", "", "１２３４５６"] {
                #expect(try await visitor.confirm(malformed).error == "VALIDATION_ERROR")
            }
            #expect(try await visitor.confirm(code).isSuccess)
        }

        @Test func `an oversized body is refused`() async throws {
            let answer = try await visitor().post(
                "/api/verification/send", text: "{\"x\":\"" + String(repeating: "x", count: 65_536) + "\"}")
            #expect(answer.status == 413)
            #expect(answer.error == "PAYLOAD_TOO_LARGE")
        }

        @Test func `an unknown path, a wrong method and a wrong type have their own answers`() async throws {
            let visitor = try await visitor()
            #expect(try await visitor.post("/api/nothing", [:]).error == "NOT_FOUND")
            let get = try await visitor.system.gateway().send(.get("/api/verification/send"))
            #expect(get.status == 405)
            #expect(get.headers["Allow"]?.contains("POST") == true)
            let form = try await visitor.post("/api/verification/send", text: "a=b", headers: ["Content-Type": "text/plain"])
            #expect(form.error == "UNSUPPORTED_MEDIA_TYPE")
        }

        @Test func `an idempotency key gives the first outcome again, over two gateways`() async throws {
            let first = try await visitor(gateway: 1)
            var second = first
            second.gateway = 2
            let key: Headers = ["Idempotency-Key": "key of \(first.email)"]
            #expect(try await first.send(headers: key).isSuccess)
            let code = try await first.code()
            #expect(try await second.send(headers: key).isSuccess)
            #expect(try await first.send(to: "else.\(first.email)", headers: key).error == "IDEMPOTENCY_CONFLICT")

            let confirmation: Headers = ["Idempotency-Key": "confirmation of \(first.email)"]
            #expect(try await second.confirm(code, headers: confirmation).isSuccess)
            // Without the key this would be INVALID_OTP.
            #expect(try await first.confirm(code, headers: confirmation).isSuccess)
            #expect(try await first.confirm(code).error == "INVALID_OTP")
            #expect(try first.system.deliveries(to: first.email).count == 1)
        }

        @Test func `parallel twins with one idempotency key are one`() async throws {
            let visitor = try await visitor()
            var twins = [visitor, visitor]
            twins[1].gateway = 2
            let headers: Headers = ["Idempotency-Key": "twins of \(visitor.email)"]
            let pair = twins
            let answers = try await withThrowingTaskGroup(of: Visitor.Answer.self) { group in
                for number in 0..<10 { group.addTask { try await pair[number % 2].send(headers: headers) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.isSuccess } == 10)
            let code = try await visitor.code()
            #expect(try await visitor.confirm(code).isSuccess)
            #expect(try visitor.system.deliveries(to: visitor.email).count == 1)
        }

        @Test func `an address has its limit over all gateways together`() async throws {
            let first = try await visitor(gateway: 1)
            var statuses: [Int] = []
            for number in 0..<22 {
                var visitor = first
                visitor.gateway = number % 2 + 1
                statuses.append(try await visitor.send(to: "limit\(number).\(first.email)").status)
            }
            #expect(statuses.prefix(20).allSatisfy { $0 == 200 })
            #expect(statuses.suffix(2) == [429, 429])
            let answer = try await first.send()
            #expect(answer.error == "RATE_LIMITED")
            #expect((Int(answer.headers["Retry-After"] ?? "") ?? 0) >= 1)
            #expect(answer.body?["error"]?["message"]?.string?.hasPrefix("Too many requests. Try again in ") == true)
            #expect(try await visitor().send().isSuccess)
        }

        @Test func `what is sent for an address without an account cannot be told from the rest`() async throws {
            let visitor = try await visitor()
            let reset = try await visitor.send(purpose: "password_reset")
            #expect(reset.status == 200)
            #expect(reset.body == ["success": true, "data": ["expiresIn": 300]])
            #expect(try await visitor.send().isSuccess)
            let code = try await visitor.code()
            #expect(try await visitor.confirm(code).isSuccess)
            #expect(try visitor.system.deliveries(to: visitor.email).count == 1)
        }
    }
}
