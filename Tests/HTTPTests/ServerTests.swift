import Testing

@testable import HTTP

@Suite struct ServerTests {
    @Test func `handlers answer at once or after waiting`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let client = SocketClient(port: fixture.port)
            #expect(try await client.send(.get("/hello")).text == "hello")
            #expect(try await client.send(.get("/later")).text == "later")
            let body = String(repeating: "x", count: 60_000)
            #expect(try await client.send(.post("/echo", json: body)).text == body)
        }
    }
}
