import HTTP
import JSON
import Testing

extension Visitor {
    static let password = "Correct-Horse-7"

    /// Any request, with a token where one is given.
    func ask(_ method: HTTPMethod, _ path: String, _ body: JSON? = nil, token: String? = nil) async throws -> Answer {
        var headers: Headers = ["X-Forwarded-For": address, "X-Client-Type": "mobile"]
        if let token { headers["Authorization"] = "Bearer \(token)" }
        if body != nil { headers["Content-Type"] = "application/json" }
        let request = ClientRequest(method, path, headers: headers, body: body.map { $0.serialized() } ?? [])
        let response = try await system.gateway(gateway).send(request)
        return Answer(status: response.status.rawValue, body: try? JSON.parse(response.body), headers: response.headers)
    }

    /// Starts an onboarding session and gives its token.
    func startOnboarding(code: String? = nil) async throws -> String {
        var form: JSONObject = ["email": .string(email), "password": .string(Self.password)]
        if let code { form["code"] = .string(code) }
        let answer = try await ask(.post, "/api/onboarding/session", .object(form))
        #expect(answer.status == 201)
        return try #require(answer.data("onboardingToken"))
    }

    func register() async throws -> Answer {
        try await ask(.post, "/api/auth/register", ["email": .string(email), "password": .string(Self.password)])
    }

    func logIn(_ password: String = Self.password) async throws -> Answer {
        try await ask(.post, "/api/auth/login", ["email": .string(email), "password": .string(password)])
    }

    func refresh(_ token: String) async throws -> Answer {
        try await ask(.post, "/api/auth/refresh", ["refreshToken": .string(token)])
    }

    /// The status of a request for the user with this access token.
    func me(_ token: String) async throws -> Int { try await ask(.get, "/api/auth/me", token: token).status }

    /// Sends a code for a reset and turns it into a reset token.
    ///
    /// - Parameter count: how many codes have been delivered with this one.
    func resetToken(after count: Int = 1) async throws -> String {
        #expect(try await ask(.post, "/api/auth/forgot-password", ["email": .string(email)]).status == 200)
        let form: JSON = ["email": .string(email), "code": .string(try await code(after: count))]
        return try #require(try await ask(.post, "/api/auth/verify-reset-code", form).data("resetToken"))
    }

    /// The same request many times at once, over all gateways.
    func atOnce(_ count: Int, over gateways: Int, _ request: @escaping @Sendable (Visitor) async throws -> Answer) async throws
        -> [Answer]
    {
        try await withThrowingTaskGroup(of: Answer.self) { group in
            for number in 0..<count {
                var visitor = self
                visitor.gateway = number % gateways + 1
                let one = visitor
                group.addTask { try await request(one) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension Visitor.Answer {
    /// A text of `data`.
    func data(_ name: String) -> String? { body?["data"]?[name]?.string }
}
