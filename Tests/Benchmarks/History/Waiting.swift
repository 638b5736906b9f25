internal import Synchronization

/// Partitions that wait for a thread, and what went wrong with one.
final class Waiting: Sendable {
    private let state: Mutex<(next: Int, failure: (any Error)?)> = Mutex((0, nil))
    private let count: Int

    init(_ count: Int) { self.count = count }

    func next() -> Int? {
        state.withLock { state in
            guard state.next < count, state.failure == nil else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    func note(_ work: () throws -> Void) {
        do { try work() } catch { state.withLock { [error] in $0.failure = error } }
    }

    func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }
}
