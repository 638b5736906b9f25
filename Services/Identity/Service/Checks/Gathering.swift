internal import Synchronization

/// What is ready and leaves together: of a group each step of the log costs a fraction.
///
/// As many go together as still wait to be worked on, since those are later for it by no more than their own turn takes, and
/// nothing is held where nothing waits.
final class Gathering<Element: Sendable>: Sendable {
    private struct State {
        var held: [Element] = []
        var since = ContinuousClock.now
    }

    /// How long something is held, until somebody looks next.
    private let patience: Duration
    private let state = Mutex(State())

    init(patience: Duration) { self.patience = patience }

    /// What leaves now that this is ready.
    ///
    /// - Parameter waiting: how many wait to be worked on.
    func add(_ element: Element, waiting: Int, at now: ContinuousClock.Instant = .now) -> [Element] {
        state.withLock { state in
            if state.held.isEmpty { state.since = now }
            state.held.append(element)
            guard state.held.count >= waiting || now >= state.since + patience else { return [] }
            return take(&state)
        }
    }

    /// What leaves now that fewer wait.
    func release(waiting: Int) -> [Element] { state.withLock { $0.held.count >= waiting ? take(&$0) : [] } }

    /// What was held for long enough, whatever waits.
    func overdue(at now: ContinuousClock.Instant = .now) -> [Element] {
        state.withLock { now >= $0.since + patience ? take(&$0) : [] }
    }

    private func take(_ state: inout State) -> [Element] {
        defer { state.held = [] }
        return state.held
    }
}
