public import Runtime

/// `/healthz`, `/readyz` and `/metrics` on a port of their own, for services without an API.
public struct OperationsServer: Component {
    private let server: HTTPServer

    public init(
        _ configuration: HTTPServer.Configuration, obstacles: @escaping @Sendable () async -> [(name: String, obstacle: String)],
        metrics: @escaping @Sendable () async -> String
    ) {
        var router = Router()
        router.addOperations(obstacles: obstacles, metrics: metrics)
        var rules = HTTPApplication.Configuration()
        rules.inFlightLimit = 64
        rules.bodyLimit = 0
        var configuration = configuration
        configuration.threads = 1
        configuration.connectionLimit = min(configuration.connectionLimit, 256)
        server = HTTPServer(HTTPApplication(router: router, configuration: rules), configuration)
    }

    public init(_ configuration: HTTPServer.Configuration, readiness: Readiness, metrics: @escaping @Sendable () async -> String)
    {
        self.init(configuration, obstacles: { readiness.obstacles }, metrics: metrics)
    }

    public var name: String { "operations" }
    public var drainDeadline: Duration { server.drainDeadline }
    public var port: UInt16? { server.port }

    /// Listens and serves from now on. Returns the port.
    @discardableResult
    public func start() throws(HTTPServerError) -> UInt16 { try server.start() }
    public func stop(within deadline: Duration) async { await server.stop(within: deadline) }
    public func run() async throws { try await server.run() }
}
