public import EventLog
public import EventSchema
public import Postgres

/// Builds the tables of an attached projection anew from the log, beside the live ones, and puts them in their place. Whoever
/// reads finds the old ones until that moment. Blocks.
public struct AttachedRebuild<Projection: AttachedProjection> {
    public enum Failure: Error, CustomStringConvertible {
        case alreadyRunning(String)

        public var description: String {
            switch self {
            case .alreadyRunning(let name): "\(name) is being rebuilt already"
            }
        }
    }

    private let projection: Projection
    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let database: PostgresConnection.Configuration
    private let since: Timestamp?

    /// - Parameter since: leaves out events that were appended earlier.
    public init(
        _ projection: Projection, log: any EventLog, authenticator: RecordAuthenticator,
        database: PostgresConnection.Configuration, since: Timestamp? = nil
    ) {
        self.projection = projection
        self.log = log
        self.authenticator = authenticator
        self.database = database
        self.since = since
    }

    /// - Parameter progress: is told how many records of how many are read.
    /// - Returns: how many events were taken in.
    @discardableResult
    public func run(progress: (_ done: Int64, _ all: Int64) -> Void = { _, _ in }) throws -> Int {
        let connection = try PostgresConnection(database)
        defer {
            connection.releaseLocks()
            connection.close()
        }
        let live = tables(projection.name)
        let fresh = tables(projection.name + "_rebuilt")
        guard try connection.tryLock("rebuild of \(live.schema)") else { throw Failure.alreadyRunning(live.schema) }
        try live.prepare(over: connection)
        try connection.execute("DROP SCHEMA IF EXISTS \(unsafe: fresh.schema) CASCADE")
        try fresh.prepare(over: connection)

        try authenticator.readAnnouncements(of: log)
        let scan = try ChainScan(log, authenticator: authenticator, client: projection.name)
        defer { scan.close() }
        var reading = Reading(scan: scan, since: since)
        try reading.take(into: fresh, upTo: scan.ends(of: projection.topics), over: connection, progress: progress)
        try swap(live, for: fresh, &reading, over: connection)
        try connection.execute("DROP SCHEMA \(unsafe: live.schema + "_replaced") CASCADE")
        return reading.count
    }

    private func tables(_ schema: String) -> AttachedTables<Projection> {
        AttachedTables(projection: projection, schema: schema, log: log, authenticator: authenticator)
    }

    /// While nobody can take anything into the live tables, the new ones catch up with them exactly.
    private func swap(
        _ live: AttachedTables<Projection>, for fresh: AttachedTables<Projection>, _ reading: inout Reading,
        over connection: PostgresConnection
    ) throws {
        try connection.execute("DROP SCHEMA IF EXISTS \(unsafe: live.schema + "_replaced") CASCADE")
        try connection.transaction { connection in
            try connection.query("LOCK TABLE \(unsafe: live.schema).checkpoints IN EXCLUSIVE MODE")
            let ends = try live.positions(over: connection).mapValues(\.offset)
            try reading.take(into: fresh, upTo: ends, over: connection)
            try connection.execute("ALTER SCHEMA \(unsafe: live.schema) RENAME TO \(unsafe: live.schema + "_replaced")")
            try connection.execute("ALTER SCHEMA \(unsafe: fresh.schema) RENAME TO \(unsafe: live.schema)")
        }
    }

    /// How far the log is read.
    private struct Reading {
        let scan: ChainScan
        let since: Timestamp?
        var positions: [TopicPartition: ChainPosition] = [:]
        var count = 0

        mutating func take(
            into tables: AttachedTables<Projection>, upTo ends: [TopicPartition: Int64], over connection: PostgresConnection,
            progress: (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
        ) throws {
            let all = ends.values.reduce(0, +)
            var left: Set<TopicPartition> = []
            for (place, end) in ends where end > positions[place]?.offset ?? 0 {
                scan.follow(place, from: positions[place], since: since, upTo: end)
                left.insert(place)
            }
            while !left.isEmpty {
                let batches = try scan.next(within: .milliseconds(250)).filter { positions[$0.partition] != $0.position }
                guard case .taken = try tables.take(batches, after: positions, over: connection) else {
                    throw PostgresError(.migration, "\(tables.schema) was changed by somebody else")
                }
                for batch in batches {
                    positions[batch.partition] = batch.position
                    count += batch.events.count { !$0.saysNothing }
                }
                left = left.filter { positions[$0]?.offset ?? 0 < ends[$0] ?? 0 }
                progress(positions.values.reduce(0) { $0 + $1.offset }, all)
            }
            for place in ends.keys { scan.unfollow(place) }
        }
    }
}
