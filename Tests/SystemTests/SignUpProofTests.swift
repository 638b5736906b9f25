import HTTP
import JSON
import Testing

extension SystemTests {
    /// `SIGNUP_PROOF=required`: who proves nothing is told nothing of an address, whether or not it has an account.
    @Suite struct SignUpProofTests {
        private static let shared = Shared(["SIGNUP_PROOF": "required"])

        private func visitor() async throws -> Visitor { Visitor(try await Self.shared.system()) }

        private func form(_ visitor: Visitor, code: String? = nil) -> JSON {
            var form: JSONObject = ["email": .string(visitor.email), "password": .string(Visitor.password)]
            if let code { form["code"] = .string(code) }
            return .object(form)
        }

        private func register(_ visitor: Visitor, code: String? = nil) async throws -> Visitor.Answer {
            try await visitor.ask(.post, "/api/auth/register", form(visitor, code: code))
        }

        /// Somebody with an account, which takes a code here.
        private func owner() async throws -> Visitor {
            let owner = try await visitor()
            #expect(try await owner.send().isSuccess)
            let registered = try await register(owner, code: owner.code())
            #expect(registered.status == 201)
            #expect(registered.body?["data"]?["user"]?["emailVerifiedAt"]?.string != nil)
            return owner
        }

        /// An answer without what is different in each: as much as an outsider can compare.
        private func shown(_ answer: Visitor.Answer, to visitor: Visitor) -> [String] {
            func plain(_ json: JSON) -> JSON {
                switch json {
                case .object(let object):
                    var plainer: JSONObject = [:]
                    for (name, value) in object {
                        let varies = ["id", "onboardingToken", "expiresAt"].contains(name) && value.string != nil
                        plainer[name] = varies ? "varies" : plain(value)
                    }
                    return .object(plainer)
                case .string(let text): return .string(text == visitor.email ? "the address" : text)
                default: return json
                }
            }
            let headers = answer.headers.map { "\($0.name): \(["X-Request-Id", "Date"].contains($0.name) ? "" : $0.value)" }
            // Ids and times are always as long.
            return ["\(answer.status)", answer.body.map { plain($0).description } ?? ""]
                + headers.filter { !$0.hasPrefix("Content-Length") }
        }

        @Test func `without a code an address with an account is as one without`() async throws {
            let owner = try await owner()
            let stranger = try await visitor()
            var seen: [[[String]]] = []
            for visitor in [owner, stranger] {
                var answers: [Visitor.Answer] = []
                answers.append(try await register(visitor))
                answers.append(try await register(visitor, code: "12345"))
                answers.append(try await register(visitor, code: "123456"))
                answers.append(try await visitor.ask(.post, "/api/onboarding/session", form(visitor, code: "123456")))
                for _ in 0..<2 {
                    let started = try await visitor.ask(.post, "/api/onboarding/session", form(visitor))
                    let token = try #require(started.data("onboardingToken"))
                    answers.append(started)
                    answers.append(
                        try await visitor.ask(.patch, "/api/onboarding/session", ["displayName": "Zoe"], token: token))
                    answers.append(try await visitor.ask(.post, "/api/onboarding/complete", token: token))
                    answers.append(try await visitor.ask(.get, "/api/onboarding/session", token: token))
                }
                #expect(
                    answers.map { $0.error ?? "\($0.status)" } == [
                        "VALIDATION_ERROR", "VALIDATION_ERROR", "INVALID_OTP", "INVALID_OTP", "201", "200", "FORBIDDEN", "200",
                        "201", "200", "FORBIDDEN", "200",
                    ])
                seen.append(answers.map { shown($0, to: visitor) })
            }
            #expect(seen[0] == seen[1])

            // Its owner is told, once for a while; nobody else is.
            let system = owner.system
            func notices(to visitor: Visitor) throws -> Int {
                try system.deliveries(to: visitor.email).count { $0["purpose"] == "sign_up_attempted" }
            }
            try await eventually("the owner is told") { try notices(to: owner) == 1 }
            // What is sent to the stranger now comes after all that could have been.
            #expect(try await stranger.send().isSuccess)
            _ = try await stranger.code()
            #expect(try notices(to: owner) == 1)
            #expect(try notices(to: stranger) == 0)
        }

        @Test func `with a code it is told, or becomes one`() async throws {
            let stranger = try await visitor()
            let token = try await stranger.startOnboarding()
            #expect(try await stranger.ask(.post, "/api/onboarding/complete", token: token).status == 403)
            #expect(try await stranger.send().isSuccess)
            #expect(try await stranger.confirm(stranger.code()).isSuccess)
            #expect(try await stranger.ask(.post, "/api/onboarding/complete", token: token).status == 201)

            for path in ["/api/onboarding/session", "/api/auth/register"] {
                let owner = try await owner()
                #expect(try await owner.send().isSuccess)
                let again = try await owner.ask(.post, path, form(owner, code: owner.code(after: 2)))
                #expect(again.error == "ACCOUNT_EXISTS")
            }
        }
    }
}
