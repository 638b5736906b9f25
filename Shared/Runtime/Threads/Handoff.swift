import Synchronization

/// One value on its way from a thread to the one task that waits for it; a `Result` where there may be an error instead.
///
/// The value passes under a lock. A continuation that is resumed before its task has suspended hands over what it carries
/// without anything that Thread Sanitizer can see; a lock orders it for everybody.
public final class Handoff<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<Void, Never>)
        case filled(Value)
    }

    private let state = Mutex(State.empty)

    public init() {}

    /// Must be called exactly once.
    public func resume(returning value: Value) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            let before = state
            state = .filled(value)
            switch before {
            case .empty: return nil
            case .awaited(let waiter): return waiter
            case .filled: preconditionFailure("a value is handed over once")
            }
        }
        waiter?.resume()
    }

    /// What is handed over, once it is there. The wait does not end with the task: whoever can end it early resumes it with an
    /// error. One task may wait.
    public var value: Value {
        get async {
            await withCheckedContinuation { waiter in
                let isFilled = state.withLock { state in
                    switch state {
                    case .empty: state = .awaited(waiter)
                    case .awaited: preconditionFailure("a second task waits for one value")
                    case .filled: return true
                    }
                    return false
                }
                if isFilled { waiter.resume() }
            }
            return state.withLock { state in
                guard case .filled(let value) = state else { preconditionFailure("resumed without a value") }
                return value
            }
        }
    }
}
