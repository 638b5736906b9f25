import JSON
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

    func connect(timeout: Duration = .seconds(10)) throws -> SocketConnection { try SocketConnection(port: port, timeout: timeout) }

    /// Sends bytes on a fresh connection and reads one response.
    func raw(_ text: String) throws -> ClientResponse {
        let connection = try connect()
        try connection.send(text)
        return try connection.receive()
    }
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
