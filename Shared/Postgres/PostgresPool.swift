import Runtime
import Synchronization

/// A bounded number of connections, each with a thread of its own on which the work that leases it runs: a statement never
/// blocks Swift's cooperative pool.
///
/// While the server is known to be away, every call fails at once with `.unavailable`, and one thread tries to reach it
/// again, so that service resumes by itself. Connections that broke are never given out.
public final class PostgresPool: Sendable {
    public struct Configuration: Sendable {
        public var connection: PostgresConnection.Configuration
        /// The largest number of connections.
        public var size = 4
        /// How long a caller waits for a connection before it gets `.exhausted`.
        public var patience: Duration = .seconds(3)
        /// How many callers may wait. What is over gets `.exhausted` at once.
        public var maximumWaiting = 1_024
        /// After this time without work a connection is closed; the last one stays.
        public var idleTime: Duration = .seconds(60)
        /// Told when the server went away (with the reason) and when it came back (`nil`), on a thread of the pool, in the
        /// order of events, and before the work that found it fails.
        public var availabilityChanged: (@Sendable (PostgresError?) -> Void)?

        public init(_ connection: PostgresConnection.Configuration) { self.connection = connection }
    }

    public struct Statistics: Hashable, Sendable {
        public var connections = 0
        public var busy = 0
        public var waiting = 0
    }

    /// A thread with its connection.
    private final class Worker: Sendable {
        let parking = Parking()
    }

    private struct State {
        var waiting: [PostgresLease] = []
        var idle: [Worker] = []
        var workers = 0
        /// Workers that end because they are surplus, and have not ended yet: two at once must not both go.
        var leaving: Set<ObjectIdentifier> = []
        var busy = 0
        /// Connections that were good when they were last used.
        var connected = 0
        var failure: PostgresError?
        var isClosed = false
        var isKept = true
        var closing: [CheckedContinuation<Void, Never>] = []

        var hasEnded: Bool { isClosed && workers == 0 && !isKept }
    }

    public let configuration: Configuration
    private let state = Mutex(State())
    /// Whether it was told last that the server is away.
    private let toldAway = Mutex(false)
    private let keeper = Parking()

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        OwnedThread.start(name: "pg-keeper") { self.keep() }
    }

    /// Whether the server could be reached when it was last tried.
    public var isAvailable: Bool { state.withLock { $0.failure == nil && !$0.isClosed } }

    public var statistics: Statistics {
        state.withLock { Statistics(connections: $0.connected, busy: $0.busy, waiting: $0.waiting.count) }
    }

    /// Runs `body` with a connection of its own, on a thread of the pool: it may block. A connection that `body` leaves in a
    /// broken state is closed. When the task is cancelled, a statement that runs is cancelled on the server too.
    @discardableResult
    public func withConnection<Value: Sendable>(
        within patience: Duration? = nil, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        let cancellation = PostgresLease.Cancellation()
        let deadline = ContinuousClock.now + (patience ?? configuration.patience)
        let outcome = Handoff<Result<Value, any Error>>()
        return try await withTaskCancellationHandler {
            submit(
                PostgresLease(
                    deadline: deadline, cancellation: cancellation,
                    run: { connection in outcome.resume(returning: Result { try body(connection) }) },
                    fail: { error in outcome.resume(returning: .failure(error)) }))
            return try await outcome.value.get()
        } onCancel: {
            cancel(cancellation)
        }
    }

    /// `withConnection`, in a transaction.
    @discardableResult
    public func withTransaction<Value: Sendable>(
        _ mode: PostgresTransaction = .default, within patience: Duration? = nil,
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await withConnection(within: patience) { connection in try connection.transaction(mode, body) }
    }

    /// Runs one statement.
    @discardableResult
    public func query(_ sql: SQL) async throws -> PostgresRows { try await withConnection { try $0.query(sql) } }

    /// Runs several statements as one transaction, in one round trip.
    @discardableResult
    public func batch(_ statements: [SQL]) async throws -> [PostgresRows] {
        try await withConnection { try $0.batch(statements) }
    }

    /// Refuses new work, fails what waits, and returns when what runs has ended and every connection is closed.
    public func close() async {
        let (waiting, idle) = state.withLock { state in
            state.isClosed = true
            defer { (state.waiting, state.idle) = ([], []) }
            return (state.waiting, state.idle)
        }
        for lease in waiting { lease.fail(PostgresError(.closed, "the pool was closed")) }
        for worker in idle { worker.parking.unpark() }
        keeper.unpark()
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.closing.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    // MARK: - Callers

    private enum Admission {
        case refused(PostgresError)
        case wake(Worker)
        case start(Worker)
        case queued
    }

    private func submit(_ lease: PostgresLease) {
        let admission = state.withLock { state -> Admission in
            if lease.cancellation.isCancelled { return .refused(.leaseCancelled) }
            if state.isClosed { return .refused(PostgresError(.closed, "the pool was closed")) }
            if let failure = state.failure { return .refused(failure) }
            if state.waiting.count >= configuration.maximumWaiting {
                return .refused(PostgresError(.exhausted, "\(state.waiting.count) callers wait for a connection"))
            }
            state.waiting.append(lease)
            if let worker = state.idle.popLast() { return .wake(worker) }
            guard state.workers < configuration.size else { return .queued }
            state.workers += 1
            return .start(Worker())
        }
        switch admission {
        case .refused(let error): lease.fail(error)
        case .wake(let worker): worker.parking.unpark()
        case .start(let worker):
            OwnedThread.start(name: "pg-worker") { self.work(worker) }
            keeper.unpark()
        case .queued: keeper.unpark()
        }
    }

    private func cancel(_ cancellation: PostgresLease.Cancellation) {
        cancellation.cancel()
        let lease = state.withLock { state -> PostgresLease? in
            guard let index = state.waiting.firstIndex(where: { $0.cancellation === cancellation }) else { return nil }
            return state.waiting.remove(at: index)
        }
        lease?.fail(.leaseCancelled)
    }

    // MARK: - Threads

    private func work(_ worker: Worker) {
        let session = PostgresSession(configuration.connection)
        var isConnected = false
        /// Keeps the count of good connections right.
        func setConnected(_ now: Bool) {
            guard now != isConnected else { return }
            isConnected = now
            state.withLock { $0.connected += now ? 1 : -1 }
        }
        while waitForWork(worker) {
            let connection: PostgresConnection
            do {
                connection = try session.connection()
                setConnected(true)
            } catch {
                setConnected(false)
                if giveUp(error) { break }
                continue
            }
            guard let lease = take() else { continue }
            guard lease.cancellation.begin(connection.interruption) else {
                lease.fail(.leaseCancelled)
                give()
                continue
            }
            lease.run(connection)
            lease.cancellation.end()
            connection.interruption.clear()
            // A body may have left a transaction open by hand, or settings changed: only what is idle goes back.
            if !connection.isBroken, !connection.isIdle { connection.close() }
            if connection.isBroken { setConnected(false) }
            give()
        }
        session.close()
        setConnected(false)
        end {
            $0.workers -= 1
            $0.leaving.remove(ObjectIdentifier(worker))
        }
    }

    private func take() -> PostgresLease? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            state.busy += 1
            return state.waiting.removeFirst()
        }
    }

    private func give() { state.withLock { $0.busy -= 1 } }

    /// Waits until somebody wants a connection. Returns false when the thread should end.
    private func waitForWork(_ worker: Worker) -> Bool {
        while true {
            let (isWanted, isOver) = state.withLock { state in
                if !state.waiting.isEmpty { return (true, false) }
                if state.isClosed { return (false, true) }
                state.idle.append(worker)
                return (false, false)
            }
            if isWanted { return true }
            if isOver { return false }
            if worker.parking.park(until: .now + configuration.idleTime) { continue }
            let isSurplus = state.withLock { state in
                guard let index = state.idle.firstIndex(where: { $0 === worker }) else { return false }
                state.idle.remove(at: index)
                guard state.workers - state.leaving.count > 1 else { return false }
                state.leaving.insert(ObjectIdentifier(worker))
                return true
            }
            if isSurplus { return false }
        }
    }

    /// A connection could not be made. With others that work (the server may be out of connections) they go on without
    /// this thread; with none the server is away. Returns whether the thread should end.
    private func giveUp(_ error: PostgresError) -> Bool {
        enum Verdict {
            case othersGoOn(Worker?)
            case away([PostgresLease])
        }
        let verdict = state.withLock { state -> Verdict in
            if state.connected > 0 { return .othersGoOn(state.idle.popLast()) }
            defer { (state.failure, state.waiting) = (error, []) }
            return .away(state.waiting)
        }
        switch verdict {
        case .othersGoOn(let next):
            next?.parking.unpark()
            return true
        case .away(let waiting):
            tell()
            for lease in waiting { lease.fail(error) }
            keeper.unpark()
            return false
        }
    }

    /// Says whether the server is away, if that is news. Two threads may have news at once: the last word is what holds.
    private func tell() {
        toldAway.withLock { toldAway in
            let failure = state.withLock { $0.failure }
            guard toldAway != (failure != nil) else { return }
            toldAway = failure != nil
            configuration.availabilityChanged?(failure)
        }
    }

    /// Fails those who waited too long, and tries to reach a server that is away.
    private func keep() {
        let session = PostgresSession(configuration.connection)
        while true {
            let now = ContinuousClock.now
            let (late, earliest, isAway, isClosed) = state.withLock { state in
                let late = state.waiting.filter { $0.deadline <= now }
                state.waiting.removeAll { $0.deadline <= now }
                return (late, state.waiting.map(\.deadline).min(), state.failure != nil, state.isClosed)
            }
            for lease in late { lease.fail(PostgresError(.exhausted, "no connection became free in time")) }
            if isClosed { break }
            var wakeUp = earliest
            if isAway {
                do {
                    _ = try session.connection()
                    session.close()
                    state.withLock { $0.failure = nil }
                    tell()
                } catch {
                    wakeUp = [earliest, session.nextAttempt].compactMap(\.self).min()
                }
            }
            keeper.park(until: wakeUp)
        }
        end { $0.isKept = false }
    }

    private func end(_ change: (inout sending State) -> Void) {
        let closing = state.withLock { state in
            change(&state)
            guard state.hasEnded else { return [CheckedContinuation<Void, Never>]() }
            defer { state.closing = [] }
            return state.closing
        }
        for continuation in closing { continuation.resume() }
    }
}
