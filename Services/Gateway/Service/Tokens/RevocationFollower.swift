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
                guard error.isRetriable || error.code == .closed || error.code == .notProvisioned else { throw error }
                context.logger.warning("revocations cannot be followed", ["reason": .public(error.description)])
            }
            context.readiness.set(Self.part, ready: false, "revocations cannot be followed")
            _ = pause.receive(within: .milliseconds(250))
        }
    }

    private func follow(over session: PostgresSession, until stop: StopFlag) throws(LogError) {
        let description = try log.describe()
        let consumer = try log.makeConsumer(client: "revocations", group: nil)
        wakeable.set(consumer)
        defer {
            wakeable.set(nil)
            consumer.close()
        }
        let positions = try snapshot(over: session)
        var readers: [TopicPartition: ChainReader] = [:]
        for partition in 0..<description.partitions {
            let place = TopicPartition(.identityEvents, partition)
            let reader = ChainReader(place, at: positions[partition], log: description.id, authenticator: authenticator)
            consumer.follow(place, from: reader.position.start)
            readers[place] = reader
        }
        var behind = Set(readers.keys)
        while !stop.isRaised {
            let asked = ContinuousClock.now
            for event in try consumer.poll(timeout: .milliseconds(250)) {
                switch event {
                case .records(let place, let records): try read(records, with: &readers[place])
                case .reachedEnd(let place, let end):
                    try readers[place]?.reachedEnd(end)
                    behind.remove(place)
                case .interrupted(let place):
                    readers[place]?.interrupted()
                    behind.insert(place)
                    if let reader = readers[place] { consumer.follow(place, from: reader.position.start) }
                case .outOfRange(let place, _, _):
                    throw LogError(.truncated, "\(place) does not hold what was read of it: the log has lost data")
                case .assigned, .revoked: break
                }
            }
            guard consumer.isAvailable, behind.isEmpty else { continue }
            memory.isUpToDate(at: asked)
            context.readiness.set(Self.part, ready: true)
        }
    }

    private func read(_ records: [Record], with reader: inout ChainReader?) throws(LogError) {
        for record in records {
            guard case .valid(let envelope)? = try reader?.read(record) else { continue }
            do throws(LogError) {
                guard let ended = try EndedSessions(in: envelope) else { continue }
                memory.end(ended.sessions)
                users.forget(ended.user)
            } catch {
                // It may end sessions, unless an operator had it skipped.
                guard error.code == .unreadable,
                    try SkippedEvents.contains(
                        envelope.offset, of: envelope.partition, behind: reader?.position, in: log, authenticator: authenticator)
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

/// The consumer that a shutdown has to wake.
private final class Wakeable: Sendable {
    private let consumer = Mutex<(any LogConsumer)?>(nil)

    func set(_ consumer: (any LogConsumer)?) { self.consumer.withLock { $0 = consumer } }
    func wake() { consumer.withLock { $0 }?.wake() }
}
