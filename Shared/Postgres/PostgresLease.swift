import Synchronization

/// A caller that waits for a connection of the pool, or works with one. Exactly one of `run` and `fail` is called, once.
final class PostgresLease: Sendable {
    /// Lets a caller's cancellation reach the statement that runs, and none that comes after it.
    final class Cancellation: Sendable {
        private enum Phase {
            case waiting
            case running(WakeSignal)
            case ended
            case cancelled
        }

        private let phase = Mutex(Phase.waiting)

        var isCancelled: Bool { phase.withLock { if case .cancelled = $0 { true } else { false } } }

        func cancel() {
            phase.withLock { phase in
                switch phase {
                case .waiting: phase = .cancelled
                case .running(let signal): signal.raise()
                case .ended, .cancelled: break
                }
            }
        }

        /// Returns false if the caller is gone.
        func begin(_ signal: WakeSignal) -> Bool {
            phase.withLock { phase in
                guard case .waiting = phase else { return false }
                phase = .running(signal)
                return true
            }
        }

        func end() { phase.withLock { $0 = .ended } }
    }

    let deadline: ContinuousClock.Instant
    let cancellation: Cancellation
    let run: @Sendable (PostgresConnection) -> Void
    let fail: @Sendable (PostgresError) -> Void

    init(
        deadline: ContinuousClock.Instant, cancellation: Cancellation, run: @escaping @Sendable (PostgresConnection) -> Void,
        fail: @escaping @Sendable (PostgresError) -> Void
    ) {
        self.deadline = deadline
        self.cancellation = cancellation
        self.run = run
        self.fail = fail
    }
}

extension PostgresError {
    static let leaseCancelled = PostgresError(.cancelled, "cancelled while waiting for a connection")
}
