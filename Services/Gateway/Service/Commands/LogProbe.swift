import EventLog
import Synchronization

/// Tries now and then whether the log takes records at all: it may be readable and full. From the same records the log's time
/// is learnt, which somebody may set.
final class LogProbe: Sendable {
    private struct State {
        var due = ContinuousClock.now
        var isOnItsWay = false
        var isTaking = true
    }

    private let state = Mutex(State())

    private static let interval: Duration = .seconds(5)
    private static let retryPause: Duration = .milliseconds(500)

    /// Whether the log took the record that was tried last.
    var isTaking: Bool { state.withLock { $0.isTaking } }

    /// The log did not take another record: to be found out soon.
    func doubt() { state.withLock { $0.due = .now } }

    /// Appends a record when it is time for one. `ended` is called on a thread of the log.
    func tryNowAndThen(over producer: any LogProducer, _ record: () -> OutgoingRecord, ended: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            guard !state.isOnItsWay, state.due <= .now else { return false }
            state.isOnItsWay = true
            return true
        }
        guard isDue else { return }
        producer.append(record()) { [self] result in
            state.withLock { state in
                if case .success = result { state.isTaking = true } else { state.isTaking = false }
                state.isOnItsWay = false
                state.due = .now + (state.isTaking ? Self.interval : Self.retryPause)
            }
            ended()
        }
    }
}
