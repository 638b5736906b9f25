import EventLog
import EventLogSimulated
import EventSchema
import Synchronization

/// A log that fails just when a reader asks for its positions: so many times. And that does not deliver records, for as long
/// as that is asked for.
final class UnreliableLog: EventLog {
    let log: SimulatedLog
    fileprivate let failures: Mutex<Int>

    private let holding = Mutex(false)

    var holdsRecords: Bool {
        get { holding.withLock { $0 } }
        set { holding.withLock { $0 = newValue } }
    }

    private let code: LogError.Code

    init(_ log: SimulatedLog, failures: Int = 0, of code: LogError.Code = .unavailable) {
        self.log = log
        self.code = code
        self.failures = Mutex(failures)
    }

    func describe() throws(LogError) -> LogDescription { try log.describe() }

    func makeProducer(client: String) throws(LogError) -> any LogProducer { try log.makeProducer(client: client) }

    func makeConsumer(client: String, group: ConsumerGroup?) throws(LogError) -> any LogConsumer {
        Consumer(log: self, consumer: try log.makeConsumer(client: client, group: group))
    }

    private final class Consumer: LogConsumer {
        let log: UnreliableLog
        let consumer: any LogConsumer
        /// What was polled and not delivered.
        private let held = Mutex<[LogEvent]>([])

        init(log: UnreliableLog, consumer: any LogConsumer) {
            self.log = log
            self.consumer = consumer
        }

        func committed(_ partitions: [TopicPartition]) throws(LogError) -> [TopicPartition: CommittedOffset] {
            let isAway = log.failures.withLock { failures in
                defer { failures -= 1 }
                return failures > 0
            }
            if isAway { throw LogError(log.code, "away for a moment") }
            return try consumer.committed(partitions)
        }

        var isAvailable: Bool { consumer.isAvailable }
        func poll(timeout: Duration) throws(LogError) -> [LogEvent] {
            let polled = try consumer.poll(timeout: min(timeout, .milliseconds(20)))
            return held.withLock { held in
                held += polled
                guard log.holdsRecords else {
                    defer { held = [] }
                    return held
                }
                func passes(_ event: LogEvent) -> Bool {
                    switch event {
                    case .assigned, .revoked: true
                    // What is announced is read before any event.
                    case .records(let partition, _), .reachedEnd(let partition, _): partition.topic == .keys
                    case .outOfRange, .interrupted: false
                    }
                }
                defer { held.removeAll(where: passes) }
                return held.filter(passes)
            }
        }
        func follow(_ partition: TopicPartition, from offset: Int64) { consumer.follow(partition, from: offset) }
        func unfollow(_ partition: TopicPartition) { consumer.unfollow(partition) }
        func bounds(of partition: TopicPartition) throws(LogError) -> Range<Int64> { try consumer.bounds(of: partition) }
        func offset(of partition: TopicPartition, at time: Timestamp) throws(LogError) -> Int64 {
            try consumer.offset(of: partition, at: time)
        }
        func commit(_ offsets: [TopicPartition: CommittedOffset]) { consumer.commit(offsets) }
        func wake() { consumer.wake() }
        func close() { consumer.close() }
    }
}
