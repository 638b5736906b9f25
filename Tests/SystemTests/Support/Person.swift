import Foundation
import HTTP
import JSON
import Testing

/// Somebody who does everything that an account is good for, and remembers what must stand nowhere.
struct Person {
    let visitor: Visitor
    /// What would tell who it is.
    var facts: [String]
    var secrets: [String] = []
    var tokens: [String] = []
    var codes: [String] = []
    private var password: String
    private var access = ""

    private static let agent = "Surveyor/9.41"

    init(_ visitor: Visitor) {
        self.visitor = visitor
        let tag = String(visitor.email.prefix { $0 != "@" })
        facts = [
            "\(tag)@", visitor.address, Self.agent, "Zebedee \(tag)", "Fotheringay-\(tag)", "1987-11-23", "axolotl of \(tag)",
        ]
        password = "Unheard-Of-1-\(tag)"
        secrets = [password]
    }

    private var tag: String { String(visitor.email.prefix { $0 != "@" }) }
    private var email: JSON { .string(visitor.email) }

    private mutating func ask(_ method: HTTPMethod, _ path: String, _ body: JSON? = nil, token: String? = nil) async throws
        -> Visitor.Answer
    {
        var headers: Headers = ["X-Forwarded-For": visitor.address, "User-Agent": "\(Self.agent) (\(visitor.email))"]
        if let token { headers["Authorization"] = "Bearer \(token)" }
        if body != nil { headers["Content-Type"] = "application/json" }
        if method == .post { headers["Idempotency-Key"] = "key of \(visitor.email) \(UUID().uuidString)" }
        let request = ClientRequest(method, path, headers: headers, body: body.map { $0.serialized() } ?? [])
        let response = try await visitor.system.gateway().send(request)
        let answer = Visitor.Answer(
            status: response.status.rawValue, body: try? JSON.parse(response.body), headers: response.headers)
        for name in ["refreshToken", "deviceToken", "resetToken"] { tokens += answer.data(name).map { [$0] } ?? [] }
        // Whoever has the signature has the token.
        for name in ["accessToken", "onboardingToken"] {
            tokens += answer.data(name)?.split(separator: ".").last.map { [String($0)] } ?? []
        }
        return answer
    }

    /// From the first code to the last password.
    mutating func live() async throws {
        #expect(try await visitor.send().isSuccess)
        codes.append(try await visitor.code())
        let form: JSON = ["email": email, "password": .string(password), "code": .string(codes[0])]
        let started = try await ask(.post, "/api/onboarding/session", form)
        let onboarding = try #require(started.data("onboardingToken"))
        let profile: JSON = [
            "displayName": .string("Zebedee \(tag)"), "familyName": .string("Fotheringay-\(tag)"), "birthDate": "1987-11-23",
            "custom": ["pet": .string("axolotl of \(tag)")],
        ]
        #expect(try await ask(.patch, "/api/onboarding/session", profile, token: onboarding).status == 200)
        #expect(try await ask(.post, "/api/onboarding/complete", token: onboarding).status == 201)

        #expect(try await ask(.post, "/api/auth/login", ["email": email, "password": "Wrong-Guess-3"]).status == 401)
        secrets.append("Wrong-Guess-3")
        let login = try await ask(.post, "/api/auth/login", ["email": email, "password": .string(password)])
        let refreshed = try await ask(
            .post, "/api/auth/refresh", ["refreshToken": .string(try #require(login.data("refreshToken")))])
        let token = try #require(refreshed.data("accessToken"))
        #expect(try await ask(.patch, "/api/auth/me", ["givenName": .string("Zebedee \(tag)")], token: token).status == 200)
        #expect(try await ask(.get, "/api/auth/sessions", token: token).status == 200)
        let changed = "Never-Said-2-\(tag)"
        let change: JSON = ["currentPassword": .string(password), "newPassword": .string(changed)]
        #expect(try await ask(.post, "/api/auth/change-password", change, token: token).status == 200)

        #expect(try await ask(.post, "/api/auth/forgot-password", ["email": email]).status == 200)
        codes.append(try await code(for: "password_reset"))
        let answer = try await ask(.post, "/api/auth/verify-reset-code", ["email": email, "code": .string(codes[1])])
        password = "Only-Thought-3-\(tag)"
        secrets += [changed, password]
        let reset: JSON = ["resetToken": .string(try #require(answer.data("resetToken"))), "newPassword": .string(password)]
        #expect(try await ask(.post, "/api/auth/reset-password", reset).status == 200)
        let last = try await ask(.post, "/api/auth/login", ["email": email, "password": .string(password)])
        access = try #require(last.data("accessToken"))
        // Somebody who signs up with an address that has an account.
        #expect(
            try await ask(.post, "/api/auth/register", ["email": email, "password": .string(changed)]).error == "ACCOUNT_EXISTS")
    }

    mutating func erase() async throws {
        #expect(try await ask(.delete, "/api/auth/me", ["password": .string(password)], token: access).status == 200)
    }

    private func code(for purpose: String) async throws -> String {
        var code: String?
        try await eventually("a code for \(purpose) is delivered") {
            code = try visitor.system.deliveries(to: visitor.email).last { $0["purpose"]?.string == purpose }?["code"]?.string
            return code != nil
        }
        return try #require(code)
    }
}

enum Tokens {
    /// Tokens as they are given to clients, and the bytes that they are made of.
    static func spellings(_ tokens: [String]) -> [String] {
        tokens.flatMap { token -> [String] in
            var text = token.replacing("-", with: "+").replacing("_", with: "/")
            text += String(repeating: "=", count: (4 - text.count % 4) % 4)
            return [token] + (Data(base64Encoded: text).map { [$0.map { String(format: "%02x", $0) }.joined()] } ?? [])
        }
    }
}
