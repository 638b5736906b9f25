import Crypto
import EventLog
import EventSchema
import Runtime
import Synchronization

/// A log of one process, whose owners answer as a test tells them.
final class LoopbackLog: EventLog {
    private struct State {
        var appended: [OutgoingRecord] = []
        var failure: LogError?
        var isAvailable = true
        var consumers: [LoopbackConsumer] = []
        var respond: @Sendable (OutgoingRecord) -> [OutgoingRecord] = { _ in [] }
        var offset: Int64 = 100
    }

    let partitions: Int
    private let state = Mutex(State())
    private static let noon = Timestamp(milliseconds: 1_780_000_000_000)

    init(partitions: Int = 4) { self.partitions = partitions }

    var appended: [OutgoingRecord] { state.withLock { $0.appended } }
    var consumers: [LoopbackConsumer] { state.withLock { $0.consumers } }
    var isAvailable: Bool { state.withLock { $0.isAvailable } }

    /// What is appended to `replies` after each command.
    func respond(_ respond: @escaping @Sendable (OutgoingRecord) -> [OutgoingRecord]) { state.withLock { $0.respond = respond } }
    /// Every append fails from now on; `nil`: none.
    func fail(_ error: LogError?) { state.withLock { $0.failure = error } }
    func setAvailable(_ isAvailable: Bool) {
        state.withLock { $0.isAvailable = isAvailable }
        for consumer in consumers { consumer.wake() }
    }

    /// Appends to `replies` without a command.
    func deliver(_ record: OutgoingRecord) {
        let (consumers, stored) = state.withLock { state in
            state.offset += 1
            let stored = Record(
                partition: record.partition, offset: state.offset, time: Timestamp(milliseconds: 0), key: record.key,
                headers: record.headers, value: record.value)
            return (state.consumers, stored)
        }
        for consumer in consumers { consumer.receive(stored) }
    }

    func append(_ record: OutgoingRecord) -> Result<Appended, LogError> {
        // What asks for the log's time is no command.
        let isProbe = record.headers.contains(Header(HeaderName.type, LogRecordType.probe))
        if isProbe { return state.withLock { $0.failure }.map { .failure($0) } ?? .success(Appended(offset: 0, time: Self.noon)) }
        let (result, replies) = state.withLock { state -> (Result<Appended, LogError>, [OutgoingRecord]) in
            state.appended.append(record)
            if let failure = state.failure { return (.failure(failure), []) }
            return (
                .success(Appended(offset: Int64(state.appended.count), time: Self.noon)), state.respond(record)
            )
        }
        for reply in replies { deliver(reply) }
        return result
    }

    func describe() throws(LogError) -> LogDescription { LogDescription(id: [1], partitions: partitions) }
    func makeProducer(client: String) throws(LogError) -> any LogProducer { LoopbackProducer(self) }

    func makeConsumer(client: String, group: ConsumerGroup?) throws(LogError) -> any LogConsumer {
        let consumer = LoopbackConsumer(self)
        state.withLock { $0.consumers.append(consumer) }
        return consumer
    }
}

final class LoopbackProducer: LogProducer {
    private let log: LoopbackLog

    init(_ log: LoopbackLog) { self.log = log }

    func append(_ record: OutgoingRecord, completion: @escaping @Sendable (Result<Appended, LogError>) -> Void) {
        completion(log.append(record))
    }
    func flush(within: Duration) -> Bool { true }
    func close() {}
}

final class LoopbackConsumer: LogConsumer {
    private let log: LoopbackLog
    private let events = Mailbox<LogEvent>()
    private let followed = Mutex<[TopicPartition: Int64]>([:])
    private let failure = Mutex<LogError?>(nil)

    init(_ log: LoopbackLog) { self.log = log }

    var position: [TopicPartition: Int64] { followed.withLock { $0 } }

    func receive(_ record: Record) {
        if followed.withLock({ $0[record.partition] }) != nil { events.send(.records(record.partition, [record])) }
    }
    func happen(_ event: LogEvent) { events.send(event) }
    func fail(with error: LogError) {
        failure.withLock { $0 = error }
        events.wake()
    }

    func poll(timeout: Duration) throws(LogError) -> [LogEvent] {
        let received = events.receive(within: timeout)
        if let failure = failure.withLock({ $0 }) { throw failure }
        return received
    }
    var isAvailable: Bool { log.isAvailable }
    func follow(_ partition: TopicPartition, from offset: Int64) {
        followed.withLock { $0[partition] = offset }
        events.send(.reachedEnd(partition, end: offset))
    }
    func unfollow(_ partition: TopicPartition) { followed.withLock { $0[partition] = nil } }
    func bounds(of partition: TopicPartition) throws(LogError) -> Range<Int64> { 7..<100 }
    func offset(of partition: TopicPartition, at time: Timestamp) throws(LogError) -> Int64 { 100 }
    func committed(_ partitions: [TopicPartition]) throws(LogError) -> [TopicPartition: CommittedOffset] { [:] }
    func commit(_ offsets: [TopicPartition: CommittedOffset]) {}
    func wake() { events.wake() }
    func close() { followed.withLock { $0 = [:] } }
}
