import Synchronization

/// A thread of ours that runs one blocking loop, from `start` until the loop returns.
///
/// ```swift
/// let follower = WorkerThread(name: "follower", wake: { consumer.wake() }) { stop in
///     while !stop.isRaised { … }
/// }
/// ```
/// As a ``Component`` it is started by the lifecycle, and a graceful shutdown raises its flag.
public final class WorkerThread: Component {
    public let name: String
    public let stop: StopFlag
    private let stackSize: Int
    private let body: Mutex<(@Sendable (StopFlag) throws -> Void)?>
    private let outcome = Condition(Outcome())

    private struct Outcome: Sendable {
        var result: Result<Void, any Error>?
        var waiters: [CheckedContinuation<Void, any Error>] = []
    }

    /// - Parameters:
    ///   - name: at most 15 bytes are shown by the kernel.
    ///   - stackSize: bytes, at least 16 KiB.
    ///   - wake: makes a waiting loop look at its flag.
    public init(
        name: String, stackSize: Int = 1 << 20, wake: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (StopFlag) throws -> Void
    ) {
        self.name = name
        self.stackSize = stackSize
        self.stop = StopFlag(onRaise: wake)
        self.body = Mutex(body)
    }

    /// Starts the thread; later calls do nothing.
    public func start() {
        let taken = body.withLock { body in
            defer { body = nil }
            return body
        }
        guard let taken else { return }
        OwnedThread.start(name: name, stackSize: stackSize) { [stop, outcome] in
            let result = Result { try taken(stop) }
            let waiters = outcome.update { outcome in
                outcome.result = result
                defer { outcome.waiters = [] }
                return outcome.waiters
            }
            for waiter in waiters { waiter.resume(with: result) }
        }
    }

    /// Blocks the calling thread until the loop has returned. Returns whether it has. Never call it on Swift's pool.
    public func join(within timeout: Duration) -> Bool {
        outcome.wait(within: timeout) { $0.result.map { _ in true } } ?? false
    }

    /// Suspends until the loop has returned; throws what it threw.
    public func ended() async throws {
        try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Void, any Error>) in
            let result = outcome.update { outcome in
                if outcome.result == nil { outcome.waiters.append(waiter) }
                return outcome.result
            }
            if let result { waiter.resume(with: result) }
        }
    }

    /// Runs the thread from start to end. A graceful shutdown and a cancellation both raise the flag.
    public func run() async throws {
        start()
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await ended()
            } onShutdown: { [stop] in
                stop.raise()
            }
        } onCancel: { [stop] in
            stop.raise()
        }
    }
}
