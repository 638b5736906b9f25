import Postgres
import Synchronization
import TestSupport
import Testing

@Suite struct `A pool` {
    let database: TestDatabase

    init() throws { database = try TestDatabase.create() }

    private func pool(size: Int = 3, _ change: (inout PostgresPool.Configuration) -> Void = { _ in }) -> PostgresPool {
        var configuration = PostgresPool.Configuration(.init(database.connectionString, applicationName: "pool test"))
        configuration.size = size
        change(&configuration)
        return PostgresPool(configuration)
    }

    @Test func `serves many callers with few connections`() async throws {
        let pool = pool()
        try await pool.query("CREATE TABLE counter (n int8 NOT NULL)")
        try await pool.query("INSERT INTO counter VALUES (0)")
        let pids = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<300 {
                group.addTask {
                    try await pool.withTransaction { connection in
                        try connection.query("UPDATE counter SET n = n + 1")
                        return connection.backendPID
                    }
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(try await pool.query("SELECT n FROM counter").column(Int.self) == [300])
        #expect((1...3).contains(pids.count))
        #expect(pool.statistics.busy == 0)
        await pool.close()
    }

    @Test func `gives up on a caller that waited too long`() async throws {
        let pool = pool(size: 1)
        let (started, hold) = (WakeSignal(), AsyncStream<Void>.makeStream())
        let holder = Task {
            try await pool.withConnection { connection in
                hold.continuation.yield()
                _ = try connection.notifications(until: nil, or: started)
            }
        }
        for await _ in hold.stream { break }
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withConnection(within: .milliseconds(50)) { _ in }
        }
        #expect(error?.code == .exhausted)
        started.raise()
        try await holder.value
        try await pool.query("SELECT 1")
        await pool.close()
    }

    @Test func `refuses callers over its bound at once`() async throws {
        let pool = pool(size: 1) { $0.maximumWaiting = 1 }
        let (release, hold) = (WakeSignal(), AsyncStream<Void>.makeStream())
        let holder = Task {
            try await pool.withConnection { connection in
                hold.continuation.yield()
                _ = try connection.notifications(until: nil, or: release)
            }
        }
        for await _ in hold.stream { break }
        let second = Task { try await pool.query("SELECT 1") }
        #expect(try await waitUntil { pool.statistics.waiting > 0 })
        let error = await #expect(throws: PostgresError.self) { try await pool.query("SELECT 1") }
        #expect(error?.code == .exhausted)
        release.raise()
        try await holder.value
        _ = try await second.value
        await pool.close()
    }

    @Test func `cancels the statement of a cancelled task on the server`() async throws {
        let pool = pool(size: 1)
        let pid = try await pool.withConnection { $0.backendPID }
        let task = Task { try await pool.query("SELECT pg_sleep(60)") }
        let other = try database.connect()
        #expect(
            try await waitUntil {
                let active =
                    "SELECT 1 FROM pg_stat_activity WHERE pid = \(pid) AND query LIKE '%pg_sleep%' AND state = 'active'" as SQL
                return try !other.query(active).isEmpty
            })
        task.cancel()
        let error = await #expect(throws: PostgresError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await waitUntil { try other.query("SELECT 1 FROM pg_stat_activity WHERE pid = \(pid)").isEmpty })
        // The next caller gets a new connection, and no leftover of the cancellation.
        #expect(try await pool.withConnection { $0.backendPID } != pid)
        await pool.close()
    }

    @Test func `does not start the work of a task that was cancelled before`() async throws {
        let pool = pool(size: 1)
        let ran = Mutex(false)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await pool.withConnection { _ in ran.withLock { $0 = true } }
        }
        let error = await #expect(throws: PostgresError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        await pool.close()
        #expect(ran.withLock { !$0 })
    }

    @Test func `takes no connection back that is inside a transaction`() async throws {
        let pool = pool(size: 1)
        let pid = try await pool.withConnection { connection in
            try connection.query("BEGIN")
            return connection.backendPID
        }
        #expect(try await pool.withConnection { $0.backendPID } != pid)
        await pool.close()
    }

    @Test func `replaces a connection that the server ended`() async throws {
        let pool = pool(size: 1)
        let pid = try await pool.withConnection { $0.backendPID }
        let other = try database.connect()
        try other.query("SELECT pg_terminate_backend(\(pid))")
        #expect(try await waitUntil { try other.query("SELECT 1 FROM pg_stat_activity WHERE pid = \(pid)").isEmpty })
        #expect(try await pool.query("SELECT 1::int8").column(Int.self) == [1])
        await pool.close()
    }

    @Test func `closes idle connections but the last`() async throws {
        let pool = pool(size: 4) { $0.idleTime = .milliseconds(20) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await pool.query("SELECT pg_sleep(0.05)") } }
            try await group.waitForAll()
        }
        #expect(try await waitUntil { pool.statistics.connections == 1 })
        try await pool.query("SELECT 1")
        #expect(pool.statistics.connections == 1)
        await pool.close()
        #expect(pool.statistics.connections == 0)
    }

    @Test func `refuses work once it is closed, and waits for what runs`() async throws {
        let pool = pool(size: 1)
        let hold = AsyncStream<Void>.makeStream()
        let running = Task {
            try await pool.withConnection { connection in
                hold.continuation.yield()
                return try connection.query("SELECT pg_sleep(0.1), 7::int8")[0].decode(1, as: Int.self)
            }
        }
        for await _ in hold.stream { break }
        await pool.close()
        let error = await #expect(throws: PostgresError.self) { try await pool.query("SELECT 1") }
        #expect(error?.code == .closed)
        #expect(try await running.value == 7)
    }
}

@Suite(.serialized) struct `A pool whose server goes away` {
    @Test func `fails at once, and resumes by itself`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        let changes = Mutex<[Bool]>([])
        var configuration = PostgresPool.Configuration(.init(server.connectionString, applicationName: "outage"))
        configuration.availabilityChanged = { error in changes.withLock { $0.append(error == nil) } }
        let pool = PostgresPool(configuration)
        try await pool.query("CREATE TABLE kept (id int8)")
        try await pool.query("INSERT INTO kept VALUES (1)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await pool.query("SELECT pg_sleep(0.05)") } }
            try await group.waitForAll()
        }
        #expect(pool.isAvailable)

        let running = Task { try await pool.query("SELECT pg_sleep(60)") }
        #expect(try await waitUntil { pool.statistics.busy > 0 })
        server.kill()
        let lost = await #expect(throws: PostgresError.self) { try await running.value }
        #expect(lost?.code == .unavailable)

        let clock = ContinuousClock()
        for _ in 0..<20 {
            let time = await clock.measure {
                let error = await #expect(throws: PostgresError.self) { try await pool.query("SELECT 1") }
                #expect(error?.code == .unavailable)
                #expect(error?.isRetriable == true)
            }
            #expect(time < .seconds(1))
        }
        #expect(!pool.isAvailable)
        #expect(changes.withLock { $0 } == [false])

        try server.start()
        #expect(try await waitUntil { pool.isAvailable })
        #expect(try await pool.query("SELECT id FROM kept").column(Int.self) == [1])
        #expect(try await waitUntil { changes.withLock { $0 } == [false, true] })
        await pool.close()
    }

    @Test func `does not wait for ever on a server that hangs`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        var configuration = PostgresPool.Configuration(.init(server.connectionString, applicationName: "hang"))
        configuration.connection.statementTimeout = .seconds(1)
        configuration.connection.connectTimeout = .seconds(2)
        let pool = PostgresPool(configuration)
        // A slow machine may need more than the time that a connection has here.
        #expect(try await waitUntil { (try? await pool.query("SELECT 1")) != nil })
        server.freeze()
        let first = await #expect(throws: PostgresError.self) { try await pool.query("SELECT 1") }
        #expect(first?.code == .timedOut)
        let second = await #expect(throws: PostgresError.self) { try await pool.query("SELECT 1") }
        #expect(second?.code == .unavailable)
        server.thaw()
        #expect(try await waitUntil { (try? await pool.query("SELECT 1")) != nil })
        #expect(pool.isAvailable)
        await pool.close()
    }

    @Test func `says so when there never was one`() async throws {
        let pool = PostgresPool(.init(.init("host=/nonexistent dbname=x", applicationName: "nothing")))
        let error = await #expect(throws: PostgresError.self) { try await pool.query("SELECT 1") }
        #expect(error?.code == .unavailable)
        #expect(!pool.isAvailable)
        await pool.close()
    }
}
