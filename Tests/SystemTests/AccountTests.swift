import HTTP
import JSON
import Testing

extension SystemTests {
    /// From the first screen to the last, through all services: two of each.
    @Suite struct AccountTests {
        private static let shared = Shared(scale: ["gateway": 2, "verification": 2, "identity": 2, "notifier": 2])

        private func visitor(gateway: Int = 1) async throws -> Visitor {
            Visitor(try await Self.shared.system(), gateway: gateway)
        }

        /// Where the screen that verifies the address stands among the others.
        enum Order: CaseIterable { case before, inline, between, after, never }

        @Test(arguments: Order.allCases) func `an address is verified wherever that screen stands`(order: Order) async throws {
            let visitor = try await visitor()
            func verify() async throws {
                #expect(try await visitor.send().isSuccess)
                #expect(try await visitor.confirm(visitor.code()).isSuccess)
            }
            if order == .before { try await verify() }
            var code: String?
            if order == .inline {
                #expect(try await visitor.send().isSuccess)
                code = try await visitor.code()
            }
            let token = try await visitor.startOnboarding(code: code)
            if order == .between { try await verify() }
            let patch: JSON = ["displayName": "Zoe", "birthDate": "2001-02-28", "timeZone": "Europe/Paris", "locale": "en-gb"]
            let patched = try await visitor.ask(.patch, "/api/onboarding/session", patch, token: token)
            #expect(patched.body?["data"]?["session"]?["profile"]?["locale"] == "en-GB")
            let completed = try await visitor.ask(.post, "/api/onboarding/complete", token: token)
            #expect(completed.status == 201)
            if order == .after { try await verify() }
            let me = try await visitor.ask(.get, "/api/auth/me", token: completed.data("accessToken"))
            let user = try #require(me.body?["data"]?["user"])
            #expect(user["email"]?.string == visitor.email)
            #expect(user["profile"]?["displayName"] == "Zoe")
            #expect((user["emailVerifiedAt"]?.string != nil) == (order != .never))
            #expect(try await visitor.ask(.get, "/api/onboarding/session", token: token).error == "ONBOARDING_COMPLETED")
            #expect(try await visitor.register().error == "ACCOUNT_EXISTS")
        }

        @Test func `of parallel uses of one token exactly one counts`() async throws {
            let visitor = try await visitor()
            let onboarding = try await visitor.startOnboarding()
            let completed = try await visitor.atOnce(12, over: 2) {
                try await $0.ask(.post, "/api/onboarding/complete", token: onboarding)
            }
            #expect(completed.allSatisfy { $0.status == 201 })
            #expect(Set(completed.map { $0.data("refreshToken") }).count == 1)
            #expect(Set(completed.map { $0.body?["data"]?["user"]?["id"] }).count == 1)

            let first = try #require(completed[0].data("refreshToken"))
            let refreshed = try await visitor.atOnce(12, over: 2) { try await $0.refresh(first) }
            #expect(refreshed.allSatisfy { $0.status == 200 })
            #expect(Set(refreshed.map { $0.data("refreshToken") }).count == 1)

            let reset = try await visitor.resetToken()
            let form: JSON = ["resetToken": .string(reset), "newPassword": "Better-Horse-8"]
            let resets = try await visitor.atOnce(8, over: 2) { try await $0.ask(.post, "/api/auth/reset-password", form) }
            #expect(resets.count { $0.status == 200 } == 1)
            #expect(resets.count { $0.error == "RESET_TOKEN_INVALID" } == 7)
            #expect(try await visitor.logIn("Better-Horse-8").status == 200)
        }

        @Test func `a refresh token that was used before the last ends the session everywhere`() async throws {
            var visitor = try await visitor()
            let first = try await visitor.register()
            let old = try #require(first.data("refreshToken"))
            let next = try #require(try await visitor.refresh(old).data("refreshToken"))
            let last = try await visitor.refresh(next)
            #expect(try await visitor.refresh(old).error == "REFRESH_TOKEN_INVALID")
            let access = try #require(last.data("accessToken"))
            for gateway in 1...2 {
                visitor.gateway = gateway
                let one = visitor
                try await eventually("the session has ended at gateway \(gateway)") { try await one.me(access) == 401 }
                #expect(try await visitor.refresh(try #require(last.data("refreshToken"))).status == 401)
            }
        }

        @Test func `what ends sessions has ended them when it is answered`() async throws {
            let visitor = try await visitor()
            _ = try await visitor.register()
            func session() async throws -> String { try #require(try await visitor.logIn().data("accessToken")) }

            let (left, kept) = (try await session(), try await session())
            #expect(try await visitor.ask(.post, "/api/auth/logout", token: left).status == 200)
            #expect(try await visitor.me(left) == 401)
            let other = try await session()
            let change: JSON = ["currentPassword": .string(Visitor.password), "newPassword": "Better-Horse-8"]
            #expect(try await visitor.ask(.post, "/api/auth/change-password", change, token: kept).status == 200)
            #expect(try await visitor.me(other) == 401)
            #expect(try await visitor.me(kept) == 200)

            let token = try await visitor.resetToken()
            let weak: JSON = ["resetToken": .string(token), "newPassword": "weak"]
            #expect(try await visitor.ask(.post, "/api/auth/reset-password", weak).error == "VALIDATION_ERROR")
            let reset: JSON = ["resetToken": .string(token), "newPassword": .string(Visitor.password)]
            #expect(try await visitor.ask(.post, "/api/auth/reset-password", reset).status == 200)
            #expect(try await visitor.me(kept) == 401)

            let last = try await session()
            #expect(try await visitor.ask(.delete, "/api/auth/me", ["password": "wrong"], token: last).status == 400)
            let erase: JSON = ["password": .string(Visitor.password)]
            #expect(try await visitor.ask(.delete, "/api/auth/me", erase, token: last).status == 200)
            #expect(try await visitor.me(last) == 401)
            #expect(try await visitor.logIn().error == "INVALID_CREDENTIALS")
            #expect(try await visitor.register().status == 201)
        }

        @Test func `a code for a reset is void once the account was erased and made anew`() async throws {
            let visitor = try await visitor()
            let access = try #require(try await visitor.register().data("accessToken"))
            #expect(try await visitor.ask(.post, "/api/auth/forgot-password", ["email": .string(visitor.email)]).status == 200)
            let code = try await visitor.code()
            let erase: JSON = ["password": .string(Visitor.password)]
            #expect(try await visitor.ask(.delete, "/api/auth/me", erase, token: access).status == 200)
            #expect(try await visitor.register().status == 201)
            let form: JSON = ["email": .string(visitor.email), "code": .string(code)]
            #expect(try await visitor.ask(.post, "/api/auth/verify-reset-code", form).error == "INVALID_OTP")
        }

        @Test func `the same login again under an idempotency key is the first one`() async throws {
            let visitor = try await visitor()
            _ = try await visitor.register()
            let form: JSON = ["email": .string(visitor.email), "password": .string(Visitor.password)]
            let headers: Headers = ["Idempotency-Key": "login of \(visitor.email)"]
            let first = try await visitor.post("/api/auth/login", form, headers: headers)
            let again = try await Visitor(visitor.system, gateway: 2).post("/api/auth/login", form, headers: headers)
            #expect(first.status == 200)
            #expect(first.body == again.body)
        }
    }
}
