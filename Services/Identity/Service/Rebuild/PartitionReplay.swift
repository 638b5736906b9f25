internal import EventLog
internal import EventSchema
internal import IdentityDomain
internal import Postgres

/// Folds the events of one partition after the other, and writes them where a rebuild is made. Belongs to one thread.
final class PartitionReplay {
    /// What a replay has seen and done.
    struct Counts: Sendable {
        var events = 0
        var void = 0
        var skipped = 0
        /// Data keys that existed although the events say that they were destroyed.
        var destroyed = 0
    }

    private let source: ReplaySource
    private let store: ShadowStore
    private let connection: PostgresConnection
    /// Events that were appended later only erase.
    private let instant: Timestamp?
    private(set) var counts = Counts()

    /// How many rows of a partition are held in memory: some 100 MiB.
    private let rowLimit: Int

    init(
        _ source: ReplaySource, into store: ShadowStore, over connection: PostgresConnection, asOf instant: Timestamp? = nil,
        rowLimit: Int = 100_000
    ) {
        self.source = source
        self.store = store
        self.connection = connection
        self.instant = instant
        self.rowLimit = rowLimit
    }

    /// Replays a partition from its checkpoint up to an offset. Everything is written when this returns.
    ///
    /// - Parameters:
    ///   - scan: what it is read with; it follows no other partition meanwhile.
    ///   - isIndexed: whether rows can be found by their home. What was written is read again only then: until then a partition
    ///     is written once, and `needIndexes` is called when that is not possible.
    ///   - progress: told how many offsets were read.
    func run(
        _ partition: Int, with scan: ChainScan, from checkpoint: ChainPosition?, upTo end: Int64, needIndexes: () throws -> Void,
        stop: () -> Bool = { false }, progress: (Int64) -> Void = { _ in }
    ) throws {
        let partition = TopicPartition(.identityEvents, partition)
        scan.follow(partition, from: checkpoint, upTo: end)
        defer { scan.unfollow(partition) }
        var records = PartitionRecords(partition: partition.partition, domain: source.domain)
        var written = checkpoint
        var read = checkpoint
        while !scan.isDone {
            if stop() { return }
            for batch in try scan.next(within: .milliseconds(500)) {
                if written != nil { try needIndexes() }
                try fold(batch, after: read, into: &records, isFirst: written == nil)
                progress(batch.position.offset - (read?.offset ?? 0))
                read = batch.position
                if records.rows > rowLimit {
                    try write(&records, from: written, to: batch.position, isIndexed: written != nil)
                    written = batch.position
                }
            }
        }
        if let read, read != written { try write(&records, from: written, to: read, isIndexed: written != nil) }
    }

    /// Takes one batch: homes that are not in memory are read first, unless nothing of the partition was ever written.
    func fold(
        _ batch: ChainScan.Batch, after position: ChainPosition?, into records: inout PartitionRecords, isFirst: Bool
    ) throws {
        if isFirst {
            // One by one: events are large, and to keep them costs more than to read them.
            for envelope in batch.events {
                let event = try source.event(of: envelope, after: position, &counts.skipped)
                take(event, envelope, into: &records)
            }
        } else {
            let events = try batch.events.map { envelope in
                try source.event(of: envelope, after: position, &counts.skipped)
            }
            records.add(try store.load(records.missing(of: events), over: connection))
            for (event, envelope) in zip(events, batch.events) { take(event, envelope, into: &records) }
        }
        counts.events += batch.events.count
        counts.void += batch.void.values.reduce(0, +)
    }

    private func take(_ event: IdentityEvent?, _ envelope: EventEnvelope, into records: inout PartitionRecords) {
        if let instant, envelope.appended > instant {
            if case .userErased(let erased) = event { records.erase(erased, envelope) }
        } else {
            records.apply(event, envelope)
        }
    }

    func write(
        _ records: inout PartitionRecords, from: ChainPosition?, to: ChainPosition, isIndexed: Bool
    ) throws {
        records.sweep()
        counts.destroyed += try store.write(records, from: from, to: to, isIndexed: isIndexed, over: connection)
        records.forget()
    }
}
