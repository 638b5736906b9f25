public import EventLog
public import Postgres
public import Runtime
internal import Synchronization

/// Makes what a service needs before its parts can work, as soon as it can be reached: the log, and the newest versions of its
/// schemas. Parts that need them wait for it.
public final class Preparation: Component {
    /// The name of its part in readiness.
    public static let part = "schema"

    public let name = "schema"
    private let migrations: [Migrations]
    private let database: PostgresConnection.Configuration
    private let provision: (@Sendable () throws(LogError) -> Void)?
    private let context: ServiceContext
    private let state = Mutex(State())

    private struct State {
        var isDone = false
        var lastWaiter = 0
        /// `nil` once nobody will be told any more.
        var waiters: [Int: CheckedContinuation<Bool, Never>]? = [:]
    }

    /// - Parameter provision: makes the log where it is missing. Called before the schemas are looked at; blocks.
    public init(
        _ migrations: [Migrations], database: PostgresConnection.Configuration, context: ServiceContext,
        provision: (@Sendable () throws(LogError) -> Void)? = nil
    ) {
        self.migrations = migrations
        self.database = database
        self.provision = provision
        self.context = context
        context.readiness.expect(Self.part)
    }

    /// - Throws: what waiting does not help against: a migration that was changed, a missing right, a log of another shape.
    public func run() async throws {
        defer { finish() }
        let wake = Mailbox<Never>()
        try await WorkerThread(name: "schema", wake: { wake.wake() }) { [self] stop in try work(until: stop, wake) }.run()
    }

    private func work(until stop: StopFlag, _ wake: Mailbox<Never>) throws {
        while !stop.isRaised {
            do {
                try provision?()
                let count = try Self.apply(migrations, database)
                if count > 0 { context.logger.notice("the schema was brought up to date", ["migrations": .public(count)]) }
                context.readiness.set(Self.part, ready: true)
                state.withLock { $0.isDone = true }
                finish()
                break
            } catch let error as PostgresError where error.isRetriable {
                context.readiness.set(Self.part, ready: false, "Postgres is away")
                _ = wake.receive(within: .milliseconds(200))
            } catch let error as LogError where error.passes {
                context.readiness.set(Self.part, ready: false, "the log is away")
                _ = wake.receive(within: .milliseconds(200))
            }
        }
        while !stop.isRaised { _ = wake.receive(within: nil) }
    }

    /// Applies what is missing, and returns how many files that were. Blocks.
    @discardableResult
    public static func apply(_ migrations: [Migrations], _ database: PostgresConnection.Configuration) throws -> Int {
        if migrations.isEmpty { return 0 }
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        return try migrations.reduce(0) { count, migrations in try count + migrations.apply(over: connection) }
    }

    /// A part that starts when the schemas are as they must be, and not at all when that never happens.
    public func before(_ component: some Component) -> some Component { component.starting { await self.wait() } }

    /// Suspends until it is done. Returns whether it is: false when the task is cancelled, or the service ends, before.
    func wait() async -> Bool {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    state.waiters?[waiter] = continuation
                    return state.waiters == nil
                }
                if isOver { continuation.resume(returning: state.withLock { $0.isDone }) }
                if Task.isCancelled { abandon(waiter) }
            }
        } onCancel: {
            abandon(waiter)
        }
    }

    private func abandon(_ waiter: Int) {
        state.withLock { $0.waiters?.removeValue(forKey: waiter) }?.resume(returning: false)
    }

    /// Tells everybody who waits, and who will, how it ended.
    private func finish() {
        let (waiters, isDone) = state.withLock { state in
            defer { state.waiters = nil }
            return (state.waiters ?? [:], state.isDone)
        }
        for waiter in waiters.values { waiter.resume(returning: isDone) }
    }
}
