internal import EventLog
internal import EventSchema
internal import Synchronization

/// Appends keys to the topic `keys`, each until it stands there.
final class KeyPublisher: Sendable {
    private struct State {
        /// When keys were appended that are not known to have failed.
        var attempts: [String: ContinuousClock.Instant] = [:]
        var failure: LogError?
    }

    private let producer: any LogProducer
    private let authenticator: RecordAuthenticator
    private let patience: Duration
    private let state = Mutex(State())

    /// - Parameter patience: after so long a key that was appended and never read back is appended again.
    init(producer: any LogProducer, authenticator: RecordAuthenticator, patience: Duration) {
        self.producer = producer
        self.authenticator = authenticator
        self.patience = patience
    }

    /// Appends the key, unless that was done a short while ago. Returns whether it did.
    func publish(_ key: SealingKeyPublished, at time: Timestamp) -> Bool {
        let isDue = state.withLock { state in
            let now = ContinuousClock.now
            if let last = state.attempts[key.key], now < last + patience { return false }
            state.attempts[key.key] = now
            return true
        }
        guard isDue else { return false }
        producer.append(KeyRecord.publishing(key, at: time, by: authenticator)) { [weak self] result in
            guard case .failure(let error) = result else { return }
            self?.state.withLock { state in
                state.attempts[key.key] = nil
                state.failure = error
            }
        }
        return true
    }

    /// Why an append failed since this was asked last.
    func takeFailure() -> LogError? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }
}
