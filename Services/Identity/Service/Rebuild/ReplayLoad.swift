internal import EventLog
internal import EventSchema
internal import Postgres
internal import Runtime
internal import Synchronization

/// Replays many partitions into a shadow schema on a few threads, one partition a thread.
final class ReplayLoad: Sendable {
    private struct State {
        var waiting: [Int] = []
        var done: Int64 = 0
        var counts = PartitionReplay.Counts()
        var failure: (any Error)?
    }

    private let source: ReplaySource
    private let store: ShadowStore
    private let database: PostgresConnection.Configuration
    private let threads: Int
    private let rowLimit: Int
    private let instant: Timestamp?
    private let state = Mutex(State())
    /// Whoever makes indexes holds it: nobody else goes on before they are there.
    private let areIndexesMade = Mutex(false)

    init(
        _ source: ReplaySource, _ store: ShadowStore, database: PostgresConnection.Configuration, threads: Int, rowLimit: Int,
        asOf instant: Timestamp? = nil
    ) {
        self.source = source
        self.store = store
        self.database = database
        self.threads = threads
        self.rowLimit = rowLimit
        self.instant = instant
    }

    var counts: PartitionReplay.Counts { state.withLock { $0.counts } }

    /// Replays every partition from its checkpoint up to these offsets. Blocks.
    func run(
        upTo ends: [Int: Int64], _ phase: String, _ progress: @escaping @Sendable (IdentityRebuild.Progress) -> Void
    ) throws {
        let checkpoints = try checkpoints()
        let total = remaining(upTo: ends, after: checkpoints)
        state.withLock { state in
            state.waiting = ends.filter { $0.value > checkpoints[$0.key]?.offset ?? 0 }.map(\.key).sorted().reversed()
            state.done = 0
        }
        let workers = (0..<min(threads, state.withLock { $0.waiting.count })).map { number in
            WorkerThread(name: "replay \(number)", stackSize: 8 << 20) { [self] stop in
                do {
                    try replayWaiting(from: checkpoints, upTo: ends)
                } catch {
                    state.withLock { $0.failure = $0.failure ?? error }
                }
            }
        }
        for worker in workers { worker.start() }
        for worker in workers {
            while !worker.join(within: .milliseconds(200)) {
                progress(.init(phase: phase, done: state.withLock { $0.done }, total: total))
            }
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
        progress(.init(phase: phase, done: total, total: total))
    }

    /// One partition after the other, until none is left or one has failed.
    private func replayWaiting(from checkpoints: [Int: ChainPosition], upTo ends: [Int: Int64]) throws {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        let scan = try source.scan("rebuild")
        defer { scan.close() }
        let replay = PartitionReplay(source, into: store, over: connection, asOf: instant, rowLimit: rowLimit)
        defer { state.withLock { $0.counts.add(replay.counts) } }
        while let partition = state.withLock({ $0.failure == nil ? $0.waiting.popLast() : nil }) {
            try replay.run(
                partition, with: scan, from: checkpoints[partition], upTo: ends[partition] ?? 0,
                needIndexes: { try makeIndexes { _ in } },
                stop: { state.withLock { $0.failure != nil } }, progress: { read in state.withLock { $0.done += read } })
        }
    }

    /// How many offsets there are to read.
    func remaining(upTo ends: [Int: Int64]) throws -> Int64 { remaining(upTo: ends, after: try checkpoints()) }

    private func remaining(upTo ends: [Int: Int64], after checkpoints: [Int: ChainPosition]) -> Int64 {
        ends.reduce(0) { $0 + max(0, $1.value - (checkpoints[$1.key]?.offset ?? 0)) }
    }

    private func checkpoints() throws -> [Int: ChainPosition] {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        return try store.checkpoints(over: connection)
    }

    /// Makes the indexes that are missing, on all threads at once: much faster than to keep them while rows come in.
    func makeIndexes(_ progress: @escaping @Sendable (IdentityRebuild.Progress) -> Void) throws {
        try areIndexesMade.withLock { areMade in
            if areMade { return }
            progress(.init(phase: "indexing", done: 0, total: nil))
            let tables = Mutex(ShadowSchema.tables)
            let failure = Mutex<(any Error)?>(nil)
            let workers = (0..<threads).map { number in
                WorkerThread(name: "index \(number)") { [store, database] _ in
                    do {
                        let connection = try PostgresConnection(database)
                        defer { connection.close() }
                        while let table = tables.withLock({ $0.popLast() }) {
                            for statement in try store.schema.indexes(of: table, over: connection) {
                                try connection.query(statement)
                            }
                        }
                    } catch {
                        failure.withLock { $0 = error }
                    }
                }
            }
            for worker in workers { worker.start() }
            for worker in workers { while !worker.join(within: .seconds(1)) {} }
            if let failure = failure.withLock({ $0 }) { throw failure }
            areMade = true
        }
    }
}

extension PartitionReplay.Counts {
    mutating func add(_ other: PartitionReplay.Counts) {
        events += other.events
        void += other.void
        skipped += other.skipped
        destroyed += other.destroyed
    }
}
