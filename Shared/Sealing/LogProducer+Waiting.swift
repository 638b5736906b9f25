public import EventLog
internal import Glibc
internal import Synchronization

extension LogProducer {
    /// Appends a record and waits until it stands in the log. Blocks.
    @discardableResult
    public func append(_ record: OutgoingRecord, within patience: Duration) throws(LogError) -> Appended {
        let outcome = Mutex<Result<Appended, LogError>?>(nil)
        append(record) { result in outcome.withLock { $0 = result } }
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            if let outcome = outcome.withLock({ $0 }) { return try outcome.get() }
            usleep(5_000)
        }
        throw LogError(.unavailable, "the log did not take the record in time")
    }
}
