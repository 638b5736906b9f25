internal import EventLog
internal import EventSchema
internal import Glibc
internal import IdentityDomain
internal import Postgres
internal import Projections

/// Puts a shadow schema in the place of the live tables, under the locks that every writer takes: the generation first, then the
/// checkpoints. While they are held, what the live tables have more is read from the log and written.
final class ProjectionSwap {
    private let source: ReplaySource
    private let store: ShadowStore
    private let skipped: [SkippedEvent]
    private let connection: PostgresConnection
    private(set) var counts = PartitionReplay.Counts()

    /// For so long others wait behind us, at most, until everything is locked and all that is missing has come: one budget for all
    /// of it. When it is used up everything is let go, and tried again.
    static let budget: Duration = .milliseconds(500)
    private static let attempts = 60
    /// The budget was used up, or somebody waits for a lock that is held here.
    private static let passing = ["57014", "55P03", "40P01"].map { SQLState(rawValue: $0) }

    /// - Parameter skipped: the events that the shadow schema was made without.
    init(_ source: ReplaySource, _ store: ShadowStore, without skipped: [SkippedEvent], over connection: PostgresConnection) {
        self.source = source
        self.store = store
        self.skipped = skipped
        self.connection = connection
    }

    /// Tries until it has worked. Returns how long writers waited.
    func run() throws -> Duration {
        var attempt = 0
        while true {
            attempt += 1
            let replay = PartitionReplay(source, into: store, over: connection)
            let tail = try Tail(source, store, replay, over: connection)
            defer { tail.close() }
            try tail.catchUp()
            let start = ContinuousClock.now
            do {
                try connection.transaction { connection in
                    let deadline = start + Self.budget
                    try limit(to: deadline)
                    try connection.query("SELECT number FROM \(unsafe: store.schema.live).generation FOR UPDATE")
                    let live = try ShadowStore.positions(in: store.schema.live, "FOR UPDATE", over: connection)
                    try limit(to: deadline)
                    try tail.reach(live, until: deadline)
                    try source.check(skipped)
                    try forward(live, to: tail.positions, over: connection)
                    try store.schema.takePlace(over: connection) { () throws in try limit(to: deadline) }
                }
                counts.add(replay.counts)
                return ContinuousClock.now - start
            } catch let error as PostgresError where error.state.map(Self.passing.contains) == true {
                try rest(after: attempt, "somebody uses tables of \(store.schema.live) for long, or waits for us: \(error)")
            } catch let error as Tail.TooLate {
                try rest(after: attempt, "\(error)")
            }
        }
    }

    /// Statements that are not done by then are given up.
    private func limit(to deadline: ContinuousClock.Instant) throws {
        let left = deadline - .now
        guard left > .milliseconds(1) else { throw Tail.TooLate() }
        try connection.query("SET LOCAL statement_timeout = \(unsafe: String(Int64(left / .milliseconds(1))))")
    }

    private func rest(after attempt: Int, _ obstacle: String) throws {
        guard attempt < Self.attempts else {
            throw RebuildError(
                """
                the tables are made and could not be put in their place in \(Self.attempts) attempts (\(obstacle)); \
                the same command tries again and goes on from there
                """)
        }
        usleep(UInt32.random(in: 50_000...250_000))
    }

    /// Where the rebuild has read further than the live projection, that is taken further: its writers find another checkpoint
    /// and see that it is done.
    private func forward(
        _ live: [Int: ChainPosition], to positions: [Int: ChainPosition], over connection: PostgresConnection
    ) throws(PostgresError) {
        for (partition, position) in positions.sorted(by: { $0.key < $1.key }) where live[partition] != position {
            try connection.query(
                """
                INSERT INTO \(unsafe: store.schema.live).checkpoints AS stored (partition, position, answers_from, projected_by)
                VALUES (\(Int32(partition)), \(position.encoded), \(position.encoded), pg_current_xact_id())
                ON CONFLICT (partition) DO UPDATE SET position = excluded.position, projected_by = excluded.projected_by
                """)
        }
    }
}

/// Follows all partitions, and writes what comes.
private final class Tail {
    /// The log did not bring in time what the live projection has.
    struct TooLate: Error, CustomStringConvertible {
        let description = "what the live tables have more did not come in time"
    }

    private let scan: ChainScan
    private let replay: PartitionReplay
    private let source: ReplaySource
    private(set) var positions: [Int: ChainPosition]
    private var behind: Set<Int>

    init(
        _ source: ReplaySource, _ store: ShadowStore, _ replay: PartitionReplay, over connection: PostgresConnection
    ) throws {
        self.source = source
        self.replay = replay
        scan = try source.scan("rebuild")
        positions = try store.checkpoints(over: connection)
        let partitions = 0..<scan.partitions(of: .identityEvents)
        behind = Set(partitions)
        for partition in partitions {
            scan.follow(TopicPartition(.identityEvents, partition), from: positions[partition])
        }
    }

    func close() { scan.close() }

    /// Reads until every partition was at its end once.
    func catchUp() throws {
        while !behind.isEmpty { try step(within: .seconds(1)) }
    }

    /// Reads until no partition is behind these positions.
    func reach(_ live: [Int: ChainPosition], until deadline: ContinuousClock.Instant) throws {
        while live.contains(where: { $0.value.head.sequence > positions[$0.key]?.head.sequence ?? 0 }) {
            guard ContinuousClock.now < deadline else { throw TooLate() }
            try step(within: .milliseconds(20))
        }
        for (partition, position) in live where position.head.sequence == positions[partition]?.head.sequence ?? 0 {
            guard position.head == positions[partition]?.head ?? position.head else {
                throw LogError(.truncated, "partition \(partition) of the projection names another event than the log has")
            }
            // Void records behind the head make no difference; the live position may have passed more of them.
            positions[partition] = position
        }
    }

    private func step(within timeout: Duration) throws {
        for batch in try scan.next(within: timeout) {
            let partition = batch.partition.partition
            let from = positions[partition]
            if batch.position != from, batch.position.offset > 0 {
                var records = PartitionRecords(partition: partition, domain: source.domain)
                try replay.fold(batch, after: from, into: &records, isFirst: false)
                try replay.write(&records, from: from, to: batch.position, isIndexed: true)
                positions[partition] = batch.position
            }
            if batch.isLast { behind.remove(partition) }
        }
    }
}
