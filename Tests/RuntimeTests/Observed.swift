import Synchronization

/// A value that threads change and tests wait for.
final class Observed<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var waiters: [(isMet: @Sendable (Value) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Mutex<State>

    init(_ value: Value) { state = Mutex(State(value: value)) }

    var value: Value { state.withLock { $0.value } }

    func update(_ body: (inout Value) -> Void) {
        let met = state.withLock { state in
            body(&state.value)
            let met = state.waiters.filter { $0.isMet(state.value) }
            state.waiters.removeAll { $0.isMet(state.value) }
            return met
        }
        for waiter in met { waiter.continuation.resume() }
    }

    func wait(until isMet: @escaping @Sendable (Value) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMetNow = state.withLock { state in
                if isMet(state.value) { return true }
                state.waiters.append((isMet, continuation))
                return false
            }
            if isMetNow { continuation.resume() }
        }
    }
}
