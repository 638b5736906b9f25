import EventLog
import LoopService
import Postgres
import Runtime
import Synchronization
import TestSupport
import Testing

@Suite struct PreparationTests {
    private let context = ServiceContext(logger: .silent)

    private func migrations(_ script: String = "CREATE TABLE things.thing (id integer)") throws -> [Migrations] {
        [try Migrations(schema: "things", files: [("0001_things.sql", Array(script.utf8))])]
    }

    private func configuration(_ connectionString: String) -> PostgresConnection.Configuration {
        PostgresConnection.Configuration(connectionString, applicationName: "test")
    }

    /// Notes that it ran, and runs until it is asked to stop.
    private final class Dependent: Component {
        let name = "dependent"
        private let ran = Atomic<Int>(0)
        var runs: Int { ran.load(ordering: .relaxed) }

        func run() async throws {
            ran.add(1, ordering: .relaxed)
            await gracefulShutdown()
        }
    }

    /// Runs components until `stop` is called.
    private struct Service {
        private let stopping: AsyncStream<Void>.Continuation
        private let task: Task<Int32, Never>

        init(_ components: [any Component]) {
            let (stop, stopping) = AsyncStream.makeStream(of: Void.self)
            self.stopping = stopping
            task = Task { await ServiceLifecycle(components, logger: .silent).run(stop: stop) }
        }

        func stop() async -> Int32 {
            stopping.yield()
            return await task.value
        }

        func ended() async -> Int32 { await task.value }
    }

    @Test func `what depends on the schemas starts when they are there`() async throws {
        let database = try TestDatabase.create()
        let order = Mutex<[String]>([])
        let preparation = Preparation(
            try migrations(), database: configuration(database.connectionString), context: context,
            provision: { order.withLock { $0.append("log") } })
        let dependent = Dependent()
        #expect(context.readiness.obstacles.map(\.name) == [Preparation.part])
        let service = Service([preparation, preparation.before(dependent)])
        #expect(try await waitUntil { dependent.runs == 1 })
        #expect(context.readiness.isReady)
        #expect(order.withLock { $0 } == ["log"])
        #expect(try database.connect().query("SELECT count(*) FROM things.thing").column(Int64.self) == [0])
        #expect(await service.stop() == 0)
        #expect(dependent.runs == 1)
    }

    @Test func `while Postgres is away it is waited for, and a shutdown ends the wait`() async throws {
        let preparation = Preparation(
            try migrations(), database: configuration("host=/nowhere dbname=none"), context: context)
        let dependent = Dependent()
        let service = Service([preparation, preparation.before(dependent)])
        #expect(try await waitUntil { context.readiness.obstacles.map(\.obstacle) == ["Postgres is away"] })
        #expect(dependent.runs == 0)
        #expect(await service.stop() == 0)
        #expect(dependent.runs == 0)
    }

    @Test(arguments: LogError.Code.allCases.filter(\.passes))
    func `while the log is away it is waited for`(code: LogError.Code) async throws {
        let database = try TestDatabase.create()
        let isAway = Atomic<Bool>(true)
        let preparation = Preparation(
            try migrations(), database: configuration(database.connectionString), context: context,
            provision: { () throws(LogError) in
                if isAway.load(ordering: .relaxed) { throw LogError(code, "away") }
            })
        let dependent = Dependent()
        let service = Service([preparation, preparation.before(dependent)])
        #expect(try await waitUntil { context.readiness.obstacles.map(\.obstacle) == ["the log is away"] })
        #expect(dependent.runs == 0)
        isAway.store(false, ordering: .relaxed)
        #expect(try await waitUntil { dependent.runs == 1 })
        #expect(await service.stop() == 0)
    }

    @Test func `what does not pass by waiting ends the service, and nothing depends on it`() async throws {
        let database = try TestDatabase.create()
        let preparation = Preparation(
            try migrations("CREATE NONSENSE"), database: configuration(database.connectionString), context: context)
        let dependent = Dependent()
        #expect(await Service([preparation, preparation.before(dependent)]).ended() == 1)
        #expect(dependent.runs == 0)
    }
}
