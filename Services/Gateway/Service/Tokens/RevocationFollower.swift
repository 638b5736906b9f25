public import EventLog
public import EventSchema
public import Postgres
public import Runtime
import Synchronization

/// Follows `identity.events` on a thread of its own and tells which sessions have ended: first from Identity's projection as of
/// its checkpoints, then from every event behind them.
public final class RevocationFollower: Component, Revocations {
    public let name = "revocations"
    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let database: PostgresConnection.Configuration
    private let pool: PostgresPool
    private let users: UserAnswers
    private let context: ServiceContext
    private let memory = RevocationMemory()
    private let wakeable = Wakeable()
    private let pause = Mailbox<Never>()

    /// What `/readyz` calls it.
    static let part = "revocations"

    /// - Parameters:
    ///   - pool: is asked while the log cannot be followed.
    ///   - users: forget whose sessions have ended.
    public init(
        log: any EventLog, authenticator: RecordAuthenticator, database: PostgresConnection.Configuration, pool: PostgresPool,
        users: UserAnswers, context: ServiceContext
    ) {
        self.log = log
        self.authenticator = authenticator
        self.database = database
        self.pool = pool
        self.users = users
        self.context = context
        context.readiness.expect(Self.part)
    }

    public func isEnded(_ session: SessionID, of user: UserID) async throws -> Bool {
        if let known = memory.isEnded(session) { return known }
        let rows = try await pool.query(
            """
            SELECT 1 FROM identity.sessions_for_gateway
            WHERE session_id = \(PostgresUUID(session.bytes)) AND user_id = \(PostgresUUID(user.bytes))
            """)
        return rows.isEmpty
    }

    public func settle(_ sessions: [SessionID]) async {
        for session in sessions { await memory.settle(session) }
    }

    /// Works until a shutdown is asked for. Ends the service where the log has lost what was read of it.
    public func run() async throws {
        let (pause, wakeable) = (pause, wakeable)
        try await WorkerThread(name: name) {
            pause.wake()
            wakeable.wake()
        } _: { [self] stop in
            try work(until: stop)
        }.run()
    }

    private func work(until stop: StopFlag) throws {
        let session = PostgresSession(database)
        while !stop.isRaised {
            do throws(LogError) {
                try follow(over: session, until: stop)
                if stop.isRaised { return }
            } catch {
                if error.code == .unreadable {
                    // Either Identity cannot read it, and its partition stands still, or it has projected it: Postgres is asked
                    // meanwhile, and knows all that holds.
                    context.logger.error("revocations are asked for one by one", ["reason": .public(error.description)])
                    context.readiness.set(Self.part, ready: true)
                    _ = pause.receive(within: .seconds(5))
                    continue
                }
                guard error.passes else { throw error }
                context.logger.warning("revocations cannot be followed", ["reason": .public(error.description)])
            }
            context.readiness.set(Self.part, ready: false, "revocations cannot be followed")
            _ = pause.receive(within: .milliseconds(250))
        }
    }

    private func follow(over session: PostgresSession, until stop: StopFlag) throws(LogError) {
        try authenticator.readAnnouncements(of: log) { stop.isRaised }
        let scan = try ChainScan(log, authenticator: authenticator, client: "revocations")
        wakeable.set(scan.wake)
        defer {
            wakeable.set(nil)
            scan.close()
        }
        let positions = try snapshot(over: session)
        for partition in 0..<scan.partitions(of: .identityEvents) {
            scan.follow(TopicPartition(.identityEvents, partition), from: positions[partition])
        }
        while !stop.isRaised {
            let asked = ContinuousClock.now
            for batch in try scan.next(within: RevocationMemory.patience / 5) {
                try take(batch, after: positions[batch.partition.partition])
            }
            guard scan.isAvailable, scan.isUpToDate else { continue }
            memory.isUpToDate(at: asked)
            context.readiness.set(Self.part, ready: true)
        }
    }

    private func take(_ batch: ChainScan.Batch, after start: ChainPosition?) throws(LogError) {
        for event in batch.events {
            do throws(LogError) {
                guard let ended = try EndedSessions(in: event) else { continue }
                memory.end(ended.sessions)
                users.forget(ended.user)
            } catch {
                // It may end sessions, unless an operator had it skipped.
                guard error.code == .unreadable,
                    try SkippedEvents.contains(
                        event.offset, of: event.partition, behind: start, in: log, authenticator: authenticator)
                else { throw error }
            }
        }
    }

    /// What had ended lately, and as of which positions.
    private func snapshot(over session: PostgresSession) throws(LogError) -> [Int: ChainPosition] {
        do throws(PostgresError) {
            let connection = try session.connection()
            // The positions first: what ends in between is read twice.
            let checkpoints = try connection.query("SELECT partition, position FROM identity.checkpoints_for_gateway")
                .decode(Int.self, String.self)
            let ended = try connection.query("SELECT session_id FROM identity.revocations_for_gateway").decode(PostgresUUID.self)
            memory.end(ended.compactMap { SessionID(bytes: $0.bytes) })
            var positions: [Int: ChainPosition] = [:]
            for (partition, text) in checkpoints { positions[partition] = ChainPosition(encoded: text) }
            return positions
        } catch {
            throw LogError(.unavailable, "the sessions that have ended cannot be read: \(error)")
        }
    }
}

/// The scan that a shutdown has to wake.
private final class Wakeable: Sendable {
    private let waking = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ wake: (@Sendable () -> Void)?) { waking.withLock { $0 = wake } }
    func wake() { waking.withLock { $0 }?() }
}
