import Runtime
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct OperationsTests {
    @Test func `health, readiness and metrics are told`() async throws {
        let readiness = Readiness()
        readiness.expect("log", "reading")
        var settings = HTTPServer.Configuration()
        settings.drainDeadline = .seconds(1)
        let operations = OperationsServer(settings, readiness: readiness) { "requests_total 7\n" }
        let client = SocketClient(port: try operations.start())
        #expect(try await client.send(.get("/healthz")).text == "ok\n")
        let waiting = try await client.send(.get("/readyz"))
        #expect(waiting.status == .serviceUnavailable)
        #expect(waiting.text == "log: reading\n")
        readiness.set("log", ready: true)
        #expect(try await client.send(.get("/readyz")).text == "ready\n")
        let metrics = try await client.send(.get("/metrics"))
        #expect(metrics.text == "requests_total 7\n")
        #expect(metrics.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(try await client.send(.get("/")).status == .notFound)
        await operations.stop(within: .seconds(1))
    }
}
