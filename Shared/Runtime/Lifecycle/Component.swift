/// A part of a service whose `run` is its whole lifetime.
///
/// It starts what it needs, works until a graceful shutdown is asked of it (``gracefulShutdown()``,
/// ``withGracefulShutdownHandler(operation:onShutdown:)``), finishes what it has begun, frees everything, and returns.
/// Cancellation means: return now. A component that returns or throws unasked ends the service.
public protocol Component: Sendable {
    /// For logs.
    var name: String { get }
    /// How long it may take over a graceful shutdown before it is cancelled.
    var drainDeadline: Duration { get }
    func run() async throws
}

extension Component {
    public var name: String { "\(Self.self)" }
    public var drainDeadline: Duration { .seconds(5) }
}

/// A component made of a closure.
public struct ClosureComponent: Component {
    public let name: String
    public let drainDeadline: Duration
    private let body: @Sendable () async throws -> Void

    public init(_ name: String, drainDeadline: Duration = .seconds(5), _ body: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.drainDeadline = drainDeadline
        self.body = body
    }

    public func run() async throws { try await body() }
}
