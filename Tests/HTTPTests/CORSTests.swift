import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct CORSTests {
    private static let origin = "https://app.example.com"

    private func rules(credentials: Bool = false) -> HTTPApplication.Configuration {
        var rules = HTTPApplication.Configuration()
        rules.cors = CORSPolicy(origins: [Self.origin, "http://localhost:5173"], allowsCredentials: credentials)
        return rules
    }

    private func preflight(_ origin: String) -> ClientRequest {
        ClientRequest(.options, "/echo", headers: ["Origin": origin, "Access-Control-Request-Method": "POST"])
    }

    @Test func `without configuration nothing is said about origins`() async throws {
        try await withBothClients(echoRouter()) { client async throws in
            let response = try await client.send(.get("/hello", headers: ["Origin": Self.origin]))
            #expect(!response.headers.contains("Access-Control-Allow-Origin"))
            #expect(!response.headers.contains("Vary"))
            let asked = try await client.send(preflight(Self.origin))
            #expect(!asked.headers.contains("Access-Control-Allow-Origin"))
        }
    }

    @Test func `an origin of the list may call`() async throws {
        try await withBothClients(echoRouter(), rules: rules()) { client async throws in
            let response = try await client.send(.get("/hello", headers: ["Origin": Self.origin]))
            #expect(response.headers["Access-Control-Allow-Origin"] == Self.origin)
            #expect(response.headers["Access-Control-Expose-Headers"] == "X-Request-Id, Retry-After")
            #expect(response.headers["Vary"] == "Origin")
            #expect(!response.headers.contains("Access-Control-Allow-Credentials"))
            // Errors too, or a browser could not read them.
            let missing = try await client.send(.get("/nothing", headers: ["Origin": Self.origin]))
            #expect(missing.headers["Access-Control-Allow-Origin"] == Self.origin)
        }
    }

    @Test func `a preflight is answered with what is allowed`() async throws {
        try await withBothClients(echoRouter(), rules: rules(credentials: true)) { client async throws in
            let response = try await client.send(preflight(Self.origin))
            #expect(response.status == .noContent)
            #expect(response.headers.values("Access-Control-Allow-Origin") == [Self.origin])
            #expect(response.headers["Access-Control-Allow-Methods"] == "OPTIONS, POST")
            #expect(response.headers["Access-Control-Allow-Headers"]?.contains("Idempotency-Key") == true)
            #expect(response.headers.values("Access-Control-Allow-Credentials") == ["true"])
            #expect(response.headers["Access-Control-Max-Age"] == "600")
            #expect(response.headers["Vary"]?.hasPrefix("Origin,") == true)
        }
    }

    @Test(arguments: [
        "https://evil.example.com", "https://app.example.com.evil.org", "http://app.example.com", "https://APP.example.com",
        "https://app.example.com/", "null", "*",
    ])
    func `another origin gets nothing`(origin: String) async throws {
        try await withBothClients(echoRouter(), rules: rules(credentials: true)) { client async throws in
            for request in [preflight(origin), .get("/hello", headers: ["Origin": origin])] {
                let response = try await client.send(request)
                #expect(!response.headers.contains("Access-Control-Allow-Origin"))
                #expect(!response.headers.contains("Access-Control-Allow-Credentials"))
                #expect(response.headers["Vary"]?.contains("Origin") == true)
            }
        }
    }
}
