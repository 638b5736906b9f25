import Crypto
import EventLog
import EventSchema
import IdentityDomain
import Postgres
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    @Suite struct RebuildTests {
        private let past: RebuildScene
        private var scene: IdentityScene { past.scene }

        init() throws { past = try RebuildScene() }

        /// Users of another system come.
        private func importUsers() async throws {
            for number in 70..<73 {
                let subject = IdentityScene.subject(number)
                let told = try await scene.ask(
                    ImportUser(
                        subject: subject, channel: .email, data: .example(), verifiedAt: number == 70 ? scene.clock.now : nil,
                        groups: ["admin"], disabled: number == 71), at: subject.routingKey)
                #expect(told.outcome == .ok)
            }
        }

        @Test(arguments: 1...4)
        func `a rebuild makes the rows that the live projection made, whatever happened`(seed: UInt64) async throws {
            let instance = scene.start()
            try await past.live(instance, seed: seed)
            try await importUsers()
            instance.stop()
            let live = try past.rows()
            #expect(live.values.map(\.count).reduce(0, +) > 20)
            // However little is held in memory.
            for rowLimit in [100_000, 10, 0] {
                let summary = try past.rebuild(rowLimit: rowLimit).run()
                #expect(summary.events > 50)
                #expect(try past.rows() == live)
                #expect(try past.rebuild().verify().allSatisfy(\.isEqual))
            }
        }

        @Test func `an empty database is filled, and the service goes on there`() async throws {
            let instance = scene.start()
            try await past.live(instance, seed: 9, rounds: 10)
            instance.stop()
            let fresh = try IdentityScene.migratedDatabase()
            _ = try past.rebuild(in: fresh).run()
            #expect(try past.rows(in: fresh) == past.rows())
            let other = scene.start(in: fresh)
            let told = try await scene.ask(
                Register(subject: IdentityScene.subject(50), channel: .email, data: .example(), client: .example()),
                at: IdentityScene.subject(50).routingKey)
            #expect(told.outcome == .ok)
            other.stop()
            #expect(other.gaveUp.isEmpty)
            #expect(try past.rebuild(in: fresh).verify().allSatisfy(\.isEqual))
        }

        @Test func `one that was killed goes on where it was, and ends right`() async throws {
            let instance = scene.start()
            try await past.live(instance, seed: 5, rounds: 15)
            instance.stop()
            let live = try past.rows()
            // Killed at every write, in turn: those before it are there, that one is not.
            for step in 0..<40 {
                let written = Mutex(0)
                let rebuild = past.rebuild(rowLimit: 3)
                rebuild.fault.withLock {
                    $0 = {
                        let count = written.withLock { count in
                            count += 1
                            return count
                        }
                        if count > step { throw Killed() }
                    }
                }
                do {
                    _ = try rebuild.run()
                    #expect(step > 0)
                    break
                } catch is Killed {
                    #expect(try past.rows() == live)
                }
                if step % 7 == 3 {
                    let summary = try past.rebuild(rowLimit: 3).run()
                    #expect(summary.resumed)
                    #expect(try past.rows() == live)
                }
            }
            _ = try past.rebuild().run()
            #expect(try past.rows() == live)
        }

        @Test func `two at once: the second says so`() async throws {
            let first = past.rebuild()
            let connection = try first.lock()
            let error = #expect(throws: RebuildError.self) { try past.rebuild().run() }
            #expect(error?.description.contains("another rebuild") == true)
            #expect(throws: RebuildError.self) { try past.rebuild().verify() }
            first.unlock(connection)
            _ = try past.rebuild().run()
        }

        @Test func `what was swapped out stays until it is dropped`() async throws {
            let instance = scene.start()
            try await past.live(instance, seed: 6, rounds: 5)
            instance.stop()
            let live = try past.rows()
            _ = try past.rebuild().run()
            #expect(try past.rows(schema: "identity_old") == live)
            _ = try past.rebuild().run()
            #expect(try past.rebuild().dropOld())
            #expect(try !past.rebuild().dropOld())
            let schemas = try scene.query("SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'identity%' ORDER BY 1")
            #expect(try schemas.column(String.self) == ["identity", "identity_keys", "identity_restored", "identity_sealing"])
            #expect(try past.rows() == live)
        }

        @Test func `requests go on while tables are swapped under two instances, and none fails`() async throws {
            let instances = [scene.start(), scene.start()]
            let isOver = Mutex(false)
            let failures = Mutex<[String]>([])
            // What gateways ask, with statements that were prepared for the tables of before.
            let reader = WorkerThread(name: "reader") { [scene] _ in
                do {
                    let connection = try scene.database.connect()
                    while !isOver.withLock({ $0 }) {
                        try connection.query("SELECT count(*) FROM identity.accounts_for_gateway WHERE NOT disabled")
                        try connection.query("SELECT count(*) FROM identity.sessions_for_gateway")
                        try connection.query("SELECT count(*) FROM identity.devices_for_gateway")
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            reader.start()
            let people = Task { [scene] in
                var number = 1_000
                while !isOver.withLock({ $0 }) {
                    number += 1
                    let subject = IdentityScene.subject(number)
                    let told = try await scene.ask(
                        Register(subject: subject, channel: .email, data: .example(), client: .example()), at: subject.routingKey)
                    if told.outcome != .ok { failures.withLock { $0.append("\(told.outcome)") } }
                }
                return number - 1_000
            }
            let rebuild = past.rebuild()
            let pauses = try await BlockingPool.runOnce(name: "rebuilds") {
                try (0..<3).map { _ in try rebuild.run().pause }
            }
            isOver.withLock { $0 = true }
            let count = try await people.value
            #expect(reader.join(within: .seconds(30)))
            for instance in instances {
                instance.stop()
                #expect(instance.gaveUp.isEmpty)
            }
            #expect(failures.withLock { $0 } == [])
            #expect(pauses.count == 3)
            #expect(count > 0)
            #expect(try scene.query("SELECT FROM identity.users").count == count)
            #expect(try past.rebuild().verify().allSatisfy(\.isEqual))
        }

        @Test func `readers that hold one table after the other are not waited for one after the other`() async throws {
            let readers = try ShadowSchema.tables.map { table in
                let connection = try scene.database.connect()
                for statement: SQL in ["BEGIN", "LOCK TABLE identity.\(unsafe: table) IN ACCESS SHARE MODE"] {
                    try connection.query(statement)
                }
                return (name: "identity.\(table)", connection: connection)
            }
            let rebuild = past.rebuild()
            let isOver = Mutex(false)
            let run = Task {
                defer { isOver.withLock { $0 = true } }
                return try await BlockingPool.runOnce(name: "rebuild") { try rebuild.run() }
            }
            // Each lets go once it has been waited for, and not long: all together they would be waited for very long.
            var attempts: Set<String> = []
            var (last, since) = ("", ContinuousClock.now)
            while !isOver.withLock({ $0 }) {
                let waiting = try scene.query(
                    """
                    SELECT lock.relation::regclass::text, activity.xact_start::text
                    FROM pg_locks AS lock JOIN pg_stat_activity AS activity USING (pid)
                    WHERE NOT lock.granted AND lock.mode = 'AccessExclusiveLock'
                        AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    """
                ).decode(String.self, String.self)
                if let (table, start) = waiting.first {
                    attempts.insert(start)
                    if last != table { (last, since) = (table, .now) }
                    if .now - since > .milliseconds(200) {
                        try readers.first { $0.name == table }?.connection.query("COMMIT")
                        last = ""
                    }
                }
                try await Task.sleep(for: .milliseconds(10))
            }
            _ = try await run.value
            #expect(attempts.count > 1)
        }

        @Test func `names and shapes of tables, indexes and views are as before`() async throws {
            func shape() throws -> [String] {
                try scene.query(
                    """
                    SELECT 'index ' || tablename || ' ' || indexdef FROM pg_indexes WHERE schemaname = 'identity'
                    UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
                        FROM pg_constraint WHERE connamespace = 'identity'::regnamespace
                    UNION ALL SELECT 'view ' || viewname || ' ' || definition FROM pg_views WHERE schemaname = 'identity'
                    UNION ALL SELECT 'column ' || table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable || ' '
                        || coalesce(column_default, '') FROM information_schema.columns WHERE table_schema = 'identity'
                    ORDER BY 1
                    """
                ).column(String.self)
            }
            let before = try shape()
            for _ in 0..<2 {
                _ = try past.rebuild().run()
                let after = try shape()
                #expect(after.filter { !before.contains($0) } == [])
                #expect(before.filter { !after.contains($0) } == [])
            }
        }
    }
}

private struct Killed: Error {}
