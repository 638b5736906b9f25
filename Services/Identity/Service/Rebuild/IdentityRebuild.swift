internal import Crypto
public import EventLog
internal import EventSchema
internal import Postgres
internal import Runtime
internal import Synchronization

/// `identity rebuild`: replays `identity.events` from the beginning into fresh tables beside the live ones, catches up, and
/// swaps. What was written before it was stopped is kept, and the next one goes on there.
public final class IdentityRebuild: Sendable {
    /// How far a phase is.
    public struct Progress: Sendable {
        public var phase: String
        public var done: Int64
        /// `nil`: nobody knows how much there is.
        public var total: Int64?
    }

    public struct Summary: Sendable {
        /// Events that were folded now; `resumed`, whether some had been before.
        public var events = 0
        public var resumed = false
        public var void = 0
        public var skipped = 0
        /// Keys that existed although the log says that they were destroyed: they are now.
        public var destroyedKeys = 0
        public var erasedUsers = 0
        /// Users and open onboarding sessions whose data key is missing although nothing in the log ended it.
        public var missingKeys = 0
        /// How long the projection stood still for the swap.
        public var pause: Duration = .zero
    }

    let access: OperatorAccess
    let source: ReplaySource
    let schema: String
    let keySchema: String
    let threads: Int
    let rowLimit: Int
    /// Called before each write; what it throws ends the rebuild there. Only tests set it.
    let fault = Mutex<(@Sendable () throws -> Void)?>(nil)

    public convenience init(_ configuration: IdentityConfiguration, log: any EventLog) throws {
        self.init(try OperatorAccess(configuration, log: log))
    }

    /// - Parameter rowLimit: how many rows each thread holds in memory.
    init(
        _ access: OperatorAccess, schema: String = "identity", keySchema: String = IdentityKeys.schema, threads: Int = 2,
        rowLimit: Int = 100_000
    ) {
        self.access = access
        self.schema = schema
        self.keySchema = keySchema
        self.threads = threads
        self.rowLimit = rowLimit
        source = ReplaySource(access)
    }

    // MARK: What operators ask for

    /// Rebuilds and swaps. Blocks; the tables before it stay, in `identity_old`.
    public func run(progress: @escaping @Sendable (Progress) -> Void = { _ in }) throws -> Summary {
        let guardian = try lock()
        defer { unlock(guardian) }
        return try source.withoutSkipped { skipped in try rebuild(without: skipped, over: guardian, progress) }
    }

    private func rebuild(
        without skipped: [SkippedEvent], over guardian: PostgresConnection, _ progress: @escaping @Sendable (Progress) -> Void
    ) throws -> Summary {
        let shadow = ShadowSchema("\(schema)_rebuild", of: schema)
        try shadow.check(over: guardian)
        let origin = try origin(without: skipped, over: guardian)
        var summary = Summary()
        summary.resumed = try shadow.isMade(for: origin, over: guardian)
        if !summary.resumed { try shadow.create(for: origin, over: guardian) }
        let fault = fault.withLock { $0 }
        let store = ShadowStore(
            schema: shadow, keySchema: keySchema, destroysKeys: true, beforeWriting: { try fault?() })
        let load = ReplayLoad(source, store, database: database, threads: threads, rowLimit: rowLimit)

        try load.run(upTo: ends(), "replaying", progress)
        try load.makeIndexes(progress)
        // What has come meanwhile, ever less of it.
        for _ in 0..<10 {
            let ends = try ends()
            guard try load.remaining(upTo: ends) > Self.fewEvents else { break }
            try load.run(upTo: ends, "catching up", progress)
        }
        progress(Progress(phase: "swapping", done: 0, total: nil))
        try ShadowSchema(shadow.old, of: schema).drop(over: guardian)
        let swap = ProjectionSwap(source, store, without: skipped, over: guardian)
        summary.pause = try swap.run()
        let counts = load.counts
        summary.events = counts.events + swap.counts.events
        summary.void = counts.void + swap.counts.void
        summary.skipped = counts.skipped + swap.counts.skipped
        summary.destroyedKeys = counts.destroyed + swap.counts.destroyed
        try examine(&summary, over: guardian)
        return summary
    }

    /// Drops the tables that were live before the last rebuild. Returns whether there were any.
    public func dropOld() throws -> Bool {
        let connection = try lock()
        defer { unlock(connection) }
        let old = ShadowSchema(ShadowSchema("", of: schema).old, of: schema)
        guard try old.exists(over: connection) else { return false }
        try old.drop(over: connection)
        return true
    }

    // MARK: Parts

    /// With so few events to go the rest is done under the lock.
    private static let fewEvents: Int64 = 500

    /// Large statements take their time.
    var database: PostgresConnection.Configuration {
        var database = access.database
        database.applicationName = "latchkey identity rebuild"
        database.statementTimeout = .seconds(3_600)
        // Rows are found by keys, whatever is known of fresh tables.
        database.settings.merge([
            "jit": "off", "plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "maintenance_work_mem": "64MB",
            "synchronous_commit": "off",
        ]) { $1 }
        return database
    }

    /// A connection that holds the lock of rebuilds for as long as it lives.
    func lock() throws -> PostgresConnection {
        let connection = try PostgresConnection(database)
        guard try connection.tryLock("rebuild of \(schema)") else {
            connection.close()
            throw RebuildError("another rebuild of \(schema) is under way")
        }
        return connection
    }

    func unlock(_ connection: PostgresConnection) {
        connection.releaseLocks()
        connection.close()
    }

    /// What a rebuild is made from: one that was begun from something else is begun anew.
    func origin(without skipped: [SkippedEvent], over connection: PostgresConnection) throws -> String {
        let description = try source.log.describe()
        let migrations = try connection.query("SELECT max(number)::int8 FROM \(unsafe: schema).migrations").column(Int64.self)
        let places = skipped.map { "\($0.partition.partition)@\($0.offset)" }.joined(separator: " ")
        return "log \(Hex.encode(description.id)), schema \(migrations.first ?? 0), \(Version.current), without \(places)"
    }

    /// Where the partitions end now.
    func ends() throws -> [Int: Int64] {
        let scan = try source.scan("rebuild")
        defer { scan.close() }
        return Dictionary(uniqueKeysWithValues: try scan.ends(of: [.identityEvents]).map { ($0.partition, $1) })
    }

    private func examine(_ summary: inout Summary, over connection: PostgresConnection) throws {
        // All rows, and none by a key.
        let counts = try connection.batch([
            "SELECT set_config('enable_seqscan', 'on', true)",
            """
            SELECT (SELECT count(*) FROM \(unsafe: schema).users WHERE erased_at IS NOT NULL),
                (SELECT count(*) FROM \(unsafe: schema).users AS account WHERE erased_at IS NULL AND NOT EXISTS (
                    SELECT FROM \(unsafe: keySchema).data_keys WHERE id = account.data_key AND wrapped IS NOT NULL))
                + (SELECT count(*) FROM \(unsafe: schema).onboarding_sessions AS session WHERE status = 'active' AND NOT EXISTS (
                    SELECT FROM \(unsafe: keySchema).data_keys WHERE id = session.data_key AND wrapped IS NOT NULL))
            """,
        ])[1].decode(Int.self, Int.self)
        if let (erased, missing) = counts.first { (summary.erasedUsers, summary.missingKeys) = (erased, missing) }
    }
}
