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
            return release(from: &state, waiting, now)
        }
    }

    /// What leaves now that so many wait, or because it was held for long enough.
    func release(waiting: Int, at now: ContinuousClock.Instant = .now) -> [Element] {
        state.withLock { release(from: &$0, waiting, now) }
    }

    private func release(from state: inout State, _ waiting: Int, _ now: ContinuousClock.Instant) -> [Element] {
        guard state.held.count >= waiting || now >= state.since + patience else { return [] }
        defer { state.held = [] }
        return state.held
    }
}
