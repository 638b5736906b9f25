internal import EventLog
internal import EventSchema
internal import Synchronization

/// Appends keys to the topic `keys`, each until it stands there.
final class KeyPublisher: Sendable {
    /// After so long a key that was appended and never read back is appended again.
    private static let patience: Duration = .seconds(30)

    private let producer: any LogProducer
    private let authenticator: RecordAuthenticator
    private let completed: @Sendable (Result<Appended, LogError>) -> Void
    private let attempts = Mutex<[String: ContinuousClock.Instant]>([:])

    /// `completed` is called for each append, on a thread of the log's.
    init(
        producer: any LogProducer, authenticator: RecordAuthenticator,
        completed: @escaping @Sendable (Result<Appended, LogError>) -> Void
    ) {
        self.producer = producer
        self.authenticator = authenticator
        self.completed = completed
    }

    /// Appends the key, unless that was done a short while ago. Returns whether it did.
    func publish(_ key: SealingKeyPublished, at time: Timestamp) -> Bool {
        let isDue = attempts.withLock { attempts in
            let now = ContinuousClock.now
            if let last = attempts[key.key], now < last + Self.patience { return false }
            attempts[key.key] = now
            return true
        }
        guard isDue else { return false }
        producer.append(KeyRecord.publishing(key, at: time, by: authenticator)) { [weak self] result in
            guard let self else { return }
            if case .failure = result { self.attempts.withLock { $0[key.key] = nil } }
            self.completed(result)
        }
        return true
    }
}
