import EventLog
import EventSchema
import Glibc
import Sealing
import Synchronization

/// The topic `keys` in memory, with the faults that a keeper must live with.
final class FakeLog: EventLog {
    struct State {
        var records: [Record] = []
        var clock: Timestamp
        /// How many of the next appends fail.
        var failures = 0
        /// Consumers made before this number was raised are broken.
        var generation = 0
        /// Why nobody can use it.
        var away: LogError.Code?
    }

    let state: Mutex<State>
    /// Is told of what is appended elsewhere, but for what asks for the time.
    let onReply = Mutex<@Sendable (OutgoingRecord) -> Void>({ _ in })

    init(at clock: Timestamp) { state = Mutex(State(clock: clock)) }

    var records: [Record] { state.withLock { $0.records } }

    @discardableResult
    func append(_ record: OutgoingRecord) -> Appended {
        state.withLock { state in
            let offset = Int64(state.records.count)
            state.records.append(
                Record(
                    partition: record.partition, offset: offset, time: state.clock, key: record.key, headers: record.headers,
                    value: record.value))
            return Appended(offset: offset, time: state.clock)
        }
    }

    func describe() throws(LogError) -> LogDescription { LogDescription(id: [1], partitions: 1) }

    func makeProducer(client: String) throws(LogError) -> any LogProducer {
        if let code = state.withLock({ $0.away }) { throw LogError(code, "away") }
        return FakeProducer(self)
    }

    func makeConsumer(client: String, group: ConsumerGroup?) throws(LogError) -> any LogConsumer {
        if let code = state.withLock({ $0.away }) { throw LogError(code, "away") }
        return FakeConsumer(self, generation: state.withLock { $0.generation })
    }
}

private final class FakeProducer: LogProducer {
    private let log: FakeLog

    init(_ log: FakeLog) { self.log = log }

    func append(_ record: OutgoingRecord, completion: @escaping @Sendable (Result<Appended, LogError>) -> Void) {
        // What asks for the time.
        guard record.partition == KeyRecord.partition else {
            if !record.value.isEmpty { log.onReply.withLock { $0 }(record) }
            return completion(.success(Appended(offset: 0, time: log.state.withLock { $0.clock })))
        }
        let fails = log.state.withLock { state in
            if state.failures == 0 { return false }
            state.failures -= 1
            return true
        }
        completion(fails ? .failure(LogError(.unavailable, "lost")) : .success(log.append(record)))
    }

    func flush(within: Duration) -> Bool { true }
    func close() {}
}

final class FakeConsumer: LogConsumer {
    private struct State {
        /// From where each call of `follow` began.
        var follows: [Int64] = []
        var next: Int64?
        var toldEnd: Int64?
        var isWoken = false
    }

    private let log: FakeLog
    private let generation: Int
    private let state = Mutex(State())

    init(_ log: FakeLog, generation: Int = 0) {
        self.log = log
        self.generation = generation
    }

    var follows: [Int64] { state.withLock { $0.follows } }
    var isAvailable: Bool { log.state.withLock { $0.away == nil } }

    func poll(timeout: Duration) throws(LogError) -> [LogEvent] {
        let deadline = ContinuousClock.now + timeout
        while true {
            guard log.state.withLock({ $0.generation }) == generation else { throw LogError(.closed, "broken") }
            let (events, isWoken) = take()
            if !events.isEmpty || isWoken || ContinuousClock.now >= deadline { return events }
            usleep(1_000)
        }
    }

    private func take() -> ([LogEvent], isWoken: Bool) {
        let records = log.records
        return state.withLock { state in
            defer { state.isWoken = false }
            guard let next = state.next else { return ([], state.isWoken) }
            let end = Int64(records.count)
            let partition = TopicPartition(.keys, 0)
            var events: [LogEvent] = []
            if next > end { events.append(.outOfRange(partition, begin: 0, end: end)) }
            if next < end { events.append(.records(partition, Array(records[Int(next)...]))) }
            if state.toldEnd != end { events.append(.reachedEnd(partition, end: end)) }
            state.next = end
            state.toldEnd = end
            return (events, state.isWoken)
        }
    }

    func follow(_ partition: TopicPartition, from offset: Int64) {
        state.withLock { state in
            state.follows.append(offset)
            state.next = offset
            state.toldEnd = nil
        }
    }

    func unfollow(_ partition: TopicPartition) { state.withLock { $0.next = nil } }
    func bounds(of partition: TopicPartition) throws(LogError) -> Range<Int64> { 0..<Int64(log.records.count) }
    func offset(of partition: TopicPartition, at time: Timestamp) throws(LogError) -> Int64 { 0 }
    func committed(_ partitions: [TopicPartition]) throws(LogError) -> [TopicPartition: CommittedOffset] { [:] }
    func commit(_ offsets: [TopicPartition: CommittedOffset]) {}
    func wake() { state.withLock { $0.isWoken = true } }
    func close() {}
}
