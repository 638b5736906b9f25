import HTTP
import JSON
import Testing

@testable import GatewayService

@Suite struct `The OpenAPI document` {
    private func document() async throws -> JSON {
        let response = await TestGateway().client.send(.get("/openapi.json"))
        #expect(response.status == .ok)
        return try #require(response.json)
    }

    @Test func `names every endpoint, with the errors that it has`() async throws {
        let paths = try #require(try await document()["paths"])
        for path in ["/api/verification/send", "/api/verification/confirm"] {
            let responses = try #require(paths[path]?["post"]?["responses"]?.object)
            #expect(Array(responses.keys) == ["200", "400", "413", "415", "422", "429", "500", "503", "504"])
            #expect(responses["429"]?["headers"]?["Retry-After"] != nil)
        }
        #expect(
            paths["/api/verification/confirm"]?["post"]?["responses"]?["400"]?["description"]?.string?.contains("INVALID_OTP")
                == true)
    }

    @Test func `names the endpoints of accounts, and who must show a token`() async throws {
        let paths = try #require(try await document()["paths"])
        let open = [
            "/api/onboarding/session", "/api/auth/register", "/api/auth/login", "/api/auth/refresh", "/api/auth/forgot-password",
            "/api/auth/verify-reset-code", "/api/auth/reset-password",
        ]
        for path in open {
            #expect(paths[path]?["post"] != nil && paths[path]?["post"]?["security"] == nil, "\(path)")
        }
        let closed = [
            ("/api/onboarding/session", "get"), ("/api/onboarding/session", "patch"), ("/api/onboarding/complete", "post"),
            ("/api/auth/logout", "post"), ("/api/auth/logout-all", "post"), ("/api/auth/me", "get"), ("/api/auth/me", "patch"),
            ("/api/auth/me", "delete"), ("/api/auth/sessions", "get"), ("/api/auth/sessions/{id}", "delete"),
            ("/api/auth/change-password", "post"),
        ]
        for (path, method) in closed {
            #expect(paths[path]?[method]?["security"] != nil, "\(path)")
            #expect(paths[path]?[method]?["responses"]?["401"] != nil, "\(path)")
        }
    }

    @Test func `names every error code`() async throws {
        let codes = try await document()["components"]?["schemas"]?["Error"]?["properties"]?["error"]?["properties"]?["code"]?[
            "enum"]
        #expect(codes?.array?.compactMap(\.string) == ErrorCode.allCases.map(\.rawValue))
    }

    @Test func `refers to nothing that is not there`() async throws {
        let document = try await document()
        func check(_ value: JSON) {
            if let reference = value["$ref"]?.string {
                let found = reference.split(separator: "/").dropFirst().reduce(JSON?.some(document)) { $0?[String($1)] }
                #expect(found != nil, "\(reference)")
            }
            for member in value.object ?? [:] { check(member.value) }
            for element in value.array ?? [] { check(element) }
        }
        check(document)
    }
}
