internal import EventLog
internal import EventSchema
internal import Sealing
internal import Synchronization

/// Tells the log which keys sign no more, and waits for none of it: whoever looks after the keys has other things to do.
final class RetirementNotices: Sendable {
    private struct State {
        var producer: (any LogProducer)?
        /// What was appended and is not known to have failed, by key.
        var told: [String: SigningKeyRetired] = [:]
        /// Before that nothing is appended.
        var due = ContinuousClock.now
        var isFailing = false
        var failure: LogError?
    }

    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let pause: Duration
    private let state = Mutex(State())

    /// - Parameter pause: how long nothing is tried after something failed.
    init(log: any EventLog, authenticator: RecordAuthenticator, pause: Duration = .seconds(15)) {
        self.log = log
        self.authenticator = authenticator
        self.pause = pause
    }

    /// Appends what was not appended yet, or failed a while ago.
    func tell(_ retired: [SigningKeyRetired]) {
        let news = state.withLock { state in
            state.due <= .now ? retired.filter { state.told[$0.key] != $0 } : []
        }
        if news.isEmpty { return }
        do throws(LogError) {
            let producer = try openProducer()
            for key in news {
                state.withLock { $0.told[key.key] = key }
                producer.append(KeyRecord.telling(key, by: authenticator)) { [weak self] in self?.note($0, of: key) }
            }
        } catch {
            state.withLock { fail(error, &$0) }
        }
    }

    /// Why the log takes nothing, once for each time that it begins not to.
    func takeFailure() -> LogError? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    /// What is under way is told, or not.
    func close() { state.withLock { $0.producer.take() }?.close() }

    private func openProducer() throws(LogError) -> any LogProducer {
        if let producer = state.withLock({ $0.producer }) { return producer }
        let producer = try log.makeProducer(client: "signing-keys")
        state.withLock { $0.producer = producer }
        return producer
    }

    private func note(_ result: Result<Appended, LogError>, of key: SigningKeyRetired) {
        state.withLock { state in
            switch result {
            case .success: state.isFailing = false
            case .failure(let error):
                if state.told[key.key] == key { state.told[key.key] = nil }
                fail(error, &state)
            }
        }
    }

    private func fail(_ error: LogError, _ state: inout State) {
        if !state.isFailing { state.failure = error }
        state.isFailing = true
        state.due = .now + pause
    }
}
