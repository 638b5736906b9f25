import Testing

@testable import HTTP

/// A running server, and what its handlers are told.
struct Fixture: Sendable {
    let server: HTTPServer
    let port: UInt16

    /// Starts `router` on any free port, calls `body`, stops it.
    static func serve(
        _ router: Router, rules: HTTPApplication.Configuration = .init(), failures: any FailureResponses = BareFailures(),
        observe: [@Sendable (Observation) -> Void] = [], settings: HTTPServer.Configuration = Fixture.settings { _ in },
        _ body: (Fixture) async throws -> Void
    ) async throws {
        let application = HTTPApplication(router: router, configuration: rules, failures: failures, observe: observe)
        let server = HTTPServer(application, settings)
        let port = try server.start()
        let result = await Result { () async throws -> Void in try await body(Fixture(server: server, port: port)) }
        await server.stop(within: .seconds(5))
        try result.get()
    }

    static func settings(_ change: (inout HTTPServer.Configuration) -> Void) -> HTTPServer.Configuration {
        var settings = HTTPServer.Configuration()
        settings.threads = 2
        change(&settings)
        return settings
    }

    func connect() async throws -> RawConnection { try await RawConnection(port: port) }

    /// Sends bytes on a fresh connection and reads one response.
    func raw(_ text: String) async throws -> ClientResponse {
        let connection = try await connect()
        try await connection.send(text)
        return try await connection.receive()
    }
}

/// Runs the same test against the application in memory and against a socket.
func withBothClients(
    _ router: Router, rules: HTTPApplication.Configuration = .init(), failures: any FailureResponses = BareFailures(),
    observe: [@Sendable (Observation) -> Void] = [], _ body: (any Client) async throws -> Void
) async throws {
    try await body(InMemoryClient(HTTPApplication(router: router, configuration: rules, failures: failures, observe: observe)))
    try await Fixture.serve(router, rules: rules, failures: failures, observe: observe) { fixture async throws in
        try await body(SocketClient(port: fixture.port))
    }
}

/// Opens when a test says so; lets handlers wait for a state instead of a time.
actor Latch {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiters.append($0) }
    }
}

/// Collects what callbacks tell; waits until there is enough.
final class Collector<Value: Sendable>: Sendable {
    private let state = Lock<(values: [Value], waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?)>(([], nil))

    var values: [Value] { state.withLock { $0.values } }

    func add(_ value: Value) {
        let done: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.values.append(value)
            guard let waiter = state.waiter, state.values.count >= waiter.count else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        done?.resume()
    }

    /// For one waiter at a time.
    func wait(for count: Int) async -> [Value] {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.values.count >= count { return true }
                state.waiter = (count, continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
        return values
    }
}

/// Asks again and again until the state is there; the suite's time limit ends it if it never is.
func eventually(_ isReached: () async throws -> Bool) async rethrows {
    while try await !isReached() { try? await Task.sleep(for: .milliseconds(2)) }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}

/// Routes that most tests share.
func echoRouter() -> Router {
    var router = Router()
    router.get("/hello") { _, _ in .text("hello") }
    router.get("/later") { _, _ in
        await Task.detached {}.value
        return .text("later")
    }
    router.post("/echo") { request, _ in
        Response(headers: ["Content-Type": request.headers["Content-Type"] ?? "application/octet-stream"], body: request.body)
    }
    return router
}
