import EventLog
import EventSchema
import Postgres
import Synchronization

/// Appends through the lanes of its process: producers share them, and their connections.
final class PostgresLogProducer: LogProducer {
    private let log: PostgresLog
    private let catalog: LogCatalog
    private let lanes: AppendLanes
    private let open = OpenAppends()

    init(_ log: PostgresLog, client: String, catalog: LogCatalog) {
        self.log = log
        self.catalog = catalog
        lanes = log.lanes(client: client)
        log.bulletin.start()
    }

    deinit { close() }

    func append(_ record: OutgoingRecord, completion: @escaping @Sendable (Result<Appended, LogError>) -> Void) {
        guard open.begin() else { return completion(.failure(LogError(.closed, "the producer is closed"))) }
        let topic = record.partition.topic
        let key = ConsumerInbox.Key(topic: catalog.id(topic), partition: record.partition.partition)
        let lane = topic.isLasting ? lanes.lasting : lanes.passing
        lane.append(
            AppendLane.Entry(key: key, record: record, producer: ObjectIdentifier(open), fault: fault(of: record)) {
                [open] result in
                completion(result)
                open.end()
            })
    }

    /// Why the log can never take this record.
    private func fault(of record: OutgoingRecord) -> LogError? {
        let partition = record.partition
        guard (0..<partition.topic.partitions(of: catalog.description.partitions)).contains(partition.partition) else {
            return LogError(.rejected, "there is no \(partition)")
        }
        return record.rejection
    }

    @discardableResult
    func flush(within time: Duration) -> Bool { open.wait(until: .now + time) }

    func close() {
        open.close()
        for lane in [lanes.lasting, lanes.passing] { lane.withdraw(ObjectIdentifier(open)) }
    }
}

/// Counts what one producer has queued or under way.
private final class OpenAppends: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
        var waiting: [Parking] = []
    }

    private let state = Mutex(State())

    /// Returns false once the producer is closed.
    func begin() -> Bool {
        state.withLock { state in
            if !state.isClosed { state.count += 1 }
            return !state.isClosed
        }
    }

    func end() {
        let waiting = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [Parking]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for parking in waiting { parking.unpark() }
    }

    func wait(until deadline: ContinuousClock.Instant) -> Bool {
        let done = Parking()
        let isEmpty = state.withLock { state in
            if state.count > 0 { state.waiting.append(done) }
            return state.count == 0
        }
        return isEmpty || done.park(until: deadline)
    }

    func close() { state.withLock { $0.isClosed = true } }
}
