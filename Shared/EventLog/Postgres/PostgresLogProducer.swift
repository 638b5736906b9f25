import EventLog
import EventSchema
import Postgres

/// Appends through two lanes, one for what is durable before it is acknowledged and one for what need not be.
final class PostgresLogProducer: LogProducer {
    /// Keeps the announcements going.
    private let log: PostgresLog
    private let catalog: LogCatalog
    private let lasting: AppendLane
    private let passing: AppendLane

    init(_ log: PostgresLog, client: String, catalog: LogCatalog) {
        self.log = log
        self.catalog = catalog
        lasting = AppendLane(log.configuration, client: client, isLasting: true, bulletin: log.bulletin)
        passing = AppendLane(log.configuration, client: client, isLasting: false, bulletin: log.bulletin)
        log.bulletin.start()
    }

    deinit { close() }

    func append(_ record: OutgoingRecord, completion: @escaping @Sendable (Result<Appended, LogError>) -> Void) {
        let topic = record.partition.topic
        let lane = topic.isLasting ? lasting : passing
        lane.append(
            AppendLane.Entry(
                key: ConsumerInbox.Key(topic: catalog.id(topic), partition: record.partition.partition), record: record,
                fault: fault(of: record), completion: completion))
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
    func flush(within time: Duration) -> Bool {
        let deadline = ContinuousClock.now + time
        let isLastingDone = lasting.flush(until: deadline)
        return passing.flush(until: deadline) && isLastingDone
    }

    func close() {
        lasting.close()
        passing.close()
    }
}
