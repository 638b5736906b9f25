import HTTP
import JSON
import Testing

extension SystemTests {
    /// What must be good for nothing any more: after a race, a changed password, the reset of what somebody else had made.
    @Suite struct VoidedTests {
        private static let shared = Shared(scale: ["gateway": 2, "verification": 2, "identity": 2])

        private func visitor() async throws -> Visitor { Visitor(try await Self.shared.system()) }

        enum End: CaseIterable { case logout, logoutAll, reset }

        @Test(arguments: End.allCases) func `a refresh that races with the end of its session leaves nothing valid`(end: End)
            async throws
        {
            let visitor = try await visitor()
            var session = try await visitor.register()
            for round in 1...3 {
                let access = try #require(session.data("accessToken"))
                let refresh = try #require(session.data("refreshToken"))
                let reset = end == .reset ? try await visitor.resetToken(after: round * 2 - 1) : ""
                let answers = try await withThrowingTaskGroup(of: Visitor.Answer.self) { group in
                    for number in 0..<8 {
                        var other = visitor
                        other.gateway = number % 2 + 1
                        let one = other
                        group.addTask { try await one.refresh(refresh) }
                        guard number == 3 else { continue }
                        group.addTask {
                            switch end {
                            case .logout: return try await one.ask(.post, "/api/auth/logout", token: access)
                            case .logoutAll: return try await one.ask(.post, "/api/auth/logout-all", token: access)
                            case .reset:
                                let form: JSON = ["resetToken": .string(reset), "newPassword": .string(Visitor.password)]
                                return try await one.ask(.post, "/api/auth/reset-password", form)
                            }
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.allSatisfy { $0.status == 200 || $0.error == "REFRESH_TOKEN_INVALID" })
                for token in Set([refresh] + answers.compactMap { $0.data("refreshToken") }) {
                    #expect(try await visitor.refresh(token).error == "REFRESH_TOKEN_INVALID")
                }
                for token in [access] + answers.compactMap({ $0.data("accessToken") }) {
                    for gateway in 1...2 {
                        var other = visitor
                        other.gateway = gateway
                        let one = other
                        try await eventually("the session has ended at gateway \(gateway)") { try await one.me(token) == 401 }
                    }
                }
                if end == .reset {
                    // The notice of the reset is a delivery, too.
                    try await eventually("a notice is sent") {
                        try visitor.system.deliveries(to: visitor.email).count == round * 2
                    }
                }
                session = try await visitor.logIn()
                #expect(session.status == 200)
            }
        }

        @Test func `codes and reset tokens end with the password that they were for`() async throws {
            let visitor = try await visitor()
            let access = try #require(try await visitor.register().data("accessToken"))
            let token = try await visitor.resetToken()
            #expect(try await visitor.ask(.post, "/api/auth/forgot-password", ["email": .string(visitor.email)]).status == 200)
            let code = try await visitor.code(after: 2)

            let change: JSON = ["currentPassword": .string(Visitor.password), "newPassword": "Better-Horse-8"]
            #expect(try await visitor.ask(.post, "/api/auth/change-password", change, token: access).status == 200)
            let verify: JSON = ["email": .string(visitor.email), "code": .string(code)]
            #expect(try await visitor.ask(.post, "/api/auth/verify-reset-code", verify).error == "INVALID_OTP")
            let reset: JSON = ["resetToken": .string(token), "newPassword": "Other-Horse-9"]
            #expect(try await visitor.ask(.post, "/api/auth/reset-password", reset).error == "RESET_TOKEN_INVALID")
            #expect(try await visitor.logIn("Better-Horse-8").status == 200)
        }

        @Test func `who signed up with somebody else's address has nothing left once its owner resets the password`()
            async throws
        {
            let stranger = try await visitor()
            let theirs = try await stranger.register()
            #expect(theirs.status == 201)
            // The owner's screens: the address is verified, and the password forgotten.
            #expect(try await stranger.send().isSuccess)
            #expect(try await stranger.confirm(stranger.code()).isSuccess)
            let reset: JSON = [
                "resetToken": .string(try await stranger.resetToken(after: 2)), "newPassword": "Owner-Horse-1",
            ]
            #expect(try await stranger.ask(.post, "/api/auth/reset-password", reset).status == 200)

            #expect(try await stranger.me(try #require(theirs.data("accessToken"))) == 401)
            #expect(try await stranger.refresh(try #require(theirs.data("refreshToken"))).status == 401)
            #expect(try await stranger.logIn().error == "INVALID_CREDENTIALS")
            let owner = try await stranger.logIn("Owner-Horse-1")
            let access = try #require(owner.data("accessToken"))
            let sessions = try await stranger.ask(.get, "/api/auth/sessions", token: access)
            #expect(sessions.body?["data"]?["sessions"]?.array?.count == 1)
        }
    }
}
