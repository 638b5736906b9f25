import Synchronization

/// Asks one component, once, to finish gracefully. The lifecycle gives each component its own.
public final class ShutdownSignal: Sendable {
    @TaskLocal public static var current: ShutdownSignal?

    private struct State {
        var isRequested = false
        var nextNumber = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    public var isRequested: Bool { state.withLock { $0.isRequested } }

    public func request() {
        let handlers = state.withLock { state in
            state.isRequested = true
            defer { state.handlers = [:] }
            return state.handlers.sorted { $0.key < $1.key }.map(\.value)
        }
        for handler in handlers { handler() }
    }

    /// Calls `handler` once: when a shutdown is requested, or now if it has been. `nil` if it was called already.
    func add(_ handler: @escaping @Sendable () -> Void) -> Int? {
        let number: Int? = state.withLock { state in
            guard !state.isRequested else { return nil }
            state.nextNumber += 1
            state.handlers[state.nextNumber] = handler
            return state.nextNumber
        }
        if number == nil { handler() }
        return number
    }

    /// Returns whether the handler was still waiting.
    @discardableResult
    func remove(_ number: Int) -> Bool { state.withLock { $0.handlers.removeValue(forKey: number) != nil } }
}

/// Suspends until the component that this task belongs to is asked to shut down, or the task is cancelled. Outside a
/// lifecycle it waits for cancellation.
public func gracefulShutdown() async {
    let signal = ShutdownSignal.current ?? ShutdownSignal()
    let stream = AsyncStream<Void> { continuation in
        guard let number = signal.add({ continuation.finish() }) else { return }
        continuation.onTermination = { _ in signal.remove(number) }
    }
    // Ends when the stream is finished, and when the task is cancelled.
    for await _ in stream {}
}

/// Runs `operation`; when a graceful shutdown is asked of its component meanwhile (or was before), calls `onShutdown`,
/// once, on whichever thread asks.
public func withGracefulShutdownHandler<Value>(
    operation: () async throws -> Value, onShutdown: @escaping @Sendable () -> Void
) async rethrows -> Value {
    guard let signal = ShutdownSignal.current else { return try await operation() }
    let number = signal.add(onShutdown)
    defer { if let number { signal.remove(number) } }
    return try await operation()
}
