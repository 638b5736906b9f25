import TestPeers
import Testing

@testable import Curl

@Suite struct HTTPCallerTests {
    private func post(
        _ server: CallServer, by caller: HTTPCaller = HTTPCaller(isRepeatable: true), timeout: Duration = .seconds(30),
        body: String = "{}"
    ) async throws -> HTTPOutcome {
        let call = HTTPCall(
            url: "\(server.address)/path?query", headers: [("X-One", "1"), ("Content-Type", "application/json")],
            credentials: ("user", "pass"), body: Array(body.utf8), timeout: timeout)
        return try await blocking { caller.post(call) }
    }

    @Test func `a call arrives, and so does its answer`() async throws {
        let server = try CallServer { _, _ in .answer(201, "made", headers: ["Retry-After": "7"]) }
        #expect(
            try await post(server, body: "a body")
                == .answered(.init(status: 201, retryAfter: 7, body: Array("made".utf8))))
        let call = try #require(server.calls.first)
        #expect(call.target == "POST /path?query")
        #expect(call.text == "a body")
        #expect(call.headers["x-one"] == "1")
        #expect(call.headers["content-type"] == "application/json")
        #expect(call.headers["authorization"] == "Basic dXNlcjpwYXNz")
        server.stop()
    }

    @Test func `errors are answers`() async throws {
        let server = try CallServer { _, _ in .answer(503, "", headers: ["Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"]) }
        #expect(try await post(server, body: "") == .answered(.init(status: 503, body: [])))
        server.stop()
    }

    @Test func `a long answer is cut off`() async throws {
        let server = try CallServer { _, _ in .answer(200, String(repeating: "x", count: 100_000)) }
        guard case .answered(let answer) = try await post(server) else { return #expect(Bool(false), "no answer") }
        #expect(answer.body.count == 65_536)
        server.stop()
    }

    @Test func `where nobody listens nothing has arrived`() async throws {
        let server = try CallServer { _, _ in .hangUp }
        server.stop()
        #expect(try await post(server) == .failed(.unreachable))
    }

    @Test func `without an answer nobody knows`() async throws {
        let breaking = try CallServer { _, _ in .hangUp }
        #expect(try await post(breaking) == .unknown)
        breaking.stop()
        let silent = try CallServer { _, _ in .silence }
        #expect(try await post(silent, timeout: .milliseconds(300)) == .unknown)
        silent.stop()
    }

    @Test func `what may arrive twice goes over a connection that is kept`() async throws {
        let server = try CallServer { _, _ in .answer(200, "") }
        let caller = HTTPCaller(isRepeatable: true)
        for _ in 0..<3 { _ = try await post(server, by: caller) }
        #expect(server.calls.map(\.connection) == [1, 1, 1])
        server.stop()
    }

    @Test func `what may not is never made again`() async throws {
        let server = try CallServer { _, number in number == 1 ? .answer(200, "") : .hangUp }
        let caller = HTTPCaller(isRepeatable: false)
        _ = try await post(server, by: caller)
        #expect(try await post(server, by: caller) == .unknown)
        #expect(server.calls.map(\.connection) == [1, 2])
        server.stop()
    }
}
