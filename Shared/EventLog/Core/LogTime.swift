public import EventSchema
internal import Synchronization

/// What the log's clock shows, as far as this process knows it from its own appends. Between them it runs on with the steady
/// clock, so that it is the same on all machines, whatever their clocks are set to. Shared by any number of threads.
public final class LogTime: Sendable {
    private let clock = Mutex(LogClock())

    public init() {}

    /// `nil` until an append was acknowledged.
    public var now: Timestamp? { clock.withLock { $0 }.now(at: SteadyClock.now) }

    /// The time, where it was asked for within this duration: what was read before may have been stamped since the clock was set,
    /// and be late, or not, only by what was learnt since.
    public func now(askedWithin age: Duration) -> Timestamp? {
        let local = SteadyClock.now
        let clock = clock.withLock { $0 }
        let since = LocalInstant(milliseconds: local.milliseconds - Interval(age).milliseconds)
        return clock.isKnown(since: since) ? clock.now(at: local) : nil
    }

    /// The same producer, from whose acknowledgements the time is learnt.
    public func learning(from producer: any LogProducer) -> any LogProducer { LearningProducer(producer, time: self) }

    fileprivate func learn(_ appended: Timestamp, sent: LocalInstant) {
        clock.withLock { $0.learn(appended, sent: sent, at: SteadyClock.now) }
    }
}

private final class LearningProducer: LogProducer {
    private let producer: any LogProducer
    private let time: LogTime

    init(_ producer: any LogProducer, time: LogTime) {
        self.producer = producer
        self.time = time
    }

    func append(_ record: OutgoingRecord, completion: @escaping @Sendable (Result<Appended, LogError>) -> Void) {
        let sent = SteadyClock.now
        producer.append(record) { [time] result in
            if case .success(let appended) = result { time.learn(appended.time, sent: sent) }
            completion(result)
        }
    }

    func flush(within duration: Duration) -> Bool { producer.flush(within: duration) }
    func close() { producer.close() }
}

extension OutgoingRecord {
    /// A record that means nothing to a domain, not yet authenticated.
    public static func ofLog(
        _ type: String, source: String, in partition: TopicPartition, key: [UInt8], headers: [Header] = [], value: [UInt8]
    ) -> OutgoingRecord {
        OutgoingRecord(
            partition: partition, key: key,
            headers: [
                Header(HeaderName.specVersion, "1.0"), Header(HeaderName.id, MessageID.random().text),
                Header(HeaderName.type, type), Header(HeaderName.source, source),
                Header(HeaderName.contentType, "application/json"),
            ] + headers, value: value)
    }

    /// A record that means nothing: from its acknowledgement the log's clock is learnt.
    public static func probe(
        of partition: TopicPartition, by service: ServiceName, _ authenticator: RecordAuthenticator
    ) -> OutgoingRecord {
        authenticator.sealed(
            OutgoingRecord(
                partition: partition, key: [],
                headers: [
                    Header(HeaderName.specVersion, "1.0"), Header(HeaderName.id, MessageID.random().text),
                    Header(HeaderName.type, LogRecordType.probe), Header(HeaderName.source, "/\(service.rawValue)"),
                ], value: []))
    }
}
