import EventLog
import EventSchema
import IdentityDomain
import IdentityService
import LoopService
import Postgres
import Projections
import TestSupport
import Testing

extension ServiceTests {
    /// Identity's rows as a projection: rebuilt they are the same, several instances share the work, an outage passes.
    @Suite struct IdentityProjectionTests {
        private let scene: IdentityScene

        init() throws { scene = try IdentityScene() }

        private static let people = 30

        /// Users and sessions that sign-ups would have left, in any database.
        private func populate(_ database: TestDatabase) throws {
            let connection = try database.connect()
            for number in 1...Self.people {
                let subject = IdentityScene.subject(number)
                let partition = Int32(IdentityScene.partition(of: subject))
                if number % 3 != 0 {
                    let user = PostgresUUID(scene.user(UInt8(number)).bytes)
                    try connection.query(
                        "INSERT INTO identity.users (id, partition, created_at) VALUES (\(user), \(partition), '2026-01-01')")
                    try connection.query(
                        """
                        INSERT INTO identity.identifiers (subject, partition, channel, user_id, attached_at, verified_at)
                        VALUES (\(subject.bytes), \(partition), 'email', \(user), '2026-01-01',
                            CASE WHEN \(number % 3 == 1) THEN timestamptz '2026-01-02' END)
                        """)
                }
                for session in 0..<number % 4 {
                    let id = PostgresUUID([UInt8(number), UInt8(session)] + [UInt8](repeating: 0x84, count: 14))
                    try connection.query(
                        """
                        INSERT INTO identity.onboarding_sessions (id, partition, subject, channel, status, created_at, expires_at)
                        VALUES (\(id), \(partition), \(subject.bytes), 'email', \(session == 2 ? "completed" : "active"), '2026-01-01',
                            \(session == 1 ? "2026-01-02" : "2126-01-02")::timestamptz)
                        """)
                }
            }
        }

        @Test func `a rebuild gives the same rows as the live projection`() async throws {
            try populate(scene.database)
            let instance = scene.start()
            for _ in 1...200 {
                scene.confirm(IdentityScene.subject(Int.random(in: 1...Self.people)), replyTo: IdentityScene.address)
            }
            #expect(try await waitUntil { scene.replies.count == 200 })
            instance.stop()
            let live = try scene.dump()
            let events = Dictionary(grouping: instance.happened) { $0.envelope.partition.partition }

            for size in [1, 7, 1_000] {
                let other = try IdentityScene.migratedDatabase()
                try populate(other)
                let store = IdentityScene.Store(IdentityTables(), connection: IdentityScene.configuration(of: other))
                _ = try store.checkpoints(of: Array(events.keys))
                var positions: [Int: ChainPosition] = [:]
                var rest = events.mapValues { $0[...] }
                while !rest.isEmpty {
                    var batches: [Int: ProjectionBatch<IdentityEvent>] = [:]
                    for (partition, events) in rest {
                        let batch = events.prefix(size)
                        guard let last = batch.last else { continue }
                        batches[partition] = ProjectionBatch(
                            from: positions[partition], to: Checkpoint(position: last.position, answersFrom: last.position),
                            events: Array(batch))
                        positions[partition] = last.position
                        rest[partition] = events.count > size ? events.dropFirst(size) : nil
                    }
                    for outcome in try store.project(batches).values {
                        guard case .projected = outcome else {
                            Issue.record("not projected")
                            return
                        }
                    }
                }
                #expect(try TableDump.rows(of: IdentityScene.tables, over: other.connect()) == live)
            }
        }

        @Test func `each confirmation leads to one event, whatever happens to instances`() async throws {
            var instances = [scene.start(), scene.start()]
            let count = 150
            for number in 1...count {
                scene.confirm(IdentityScene.subject(number))
                if number % 50 == 0 {
                    instances.removeFirst().stop()
                    instances.append(scene.start())
                }
            }
            let flags: SQL = "SELECT count(*) FROM identity.verified_contacts"
            #expect(try await waitUntil { try scene.query(flags).column(Int64.self) == [Int64(count)] })
            for instance in instances { instance.stop() }

            // What somebody reads who comes later.
            let reader = try IdentityScene.migratedDatabase()
            let last = RunningLoop(
                log: scene.log, domain: IdentityPartition(), settings: IdentityPartition.settings,
                authenticator: scene.authenticator,
                store: IdentityScene.Store(IdentityTables(), connection: IdentityScene.configuration(of: reader)))
            #expect(try await waitUntil { try reader.connect().query(flags).column(Int64.self) == [Int64(count)] })
            last.stop()
            #expect(last.happened.count { $0.event != nil } == count)
            #expect(Set(last.happened.compactMap(\.envelope.causation)).count == count)
        }

        @Test func `an outage of Postgres passes, and nothing is lost`() async throws {
            let server = try TestServer()
            let database = try TestDatabase.create(on: server)
            try Preparation.apply(IdentityService.migrations(), IdentityScene.configuration(of: database))
            let instance = RunningLoop(
                log: scene.log, domain: IdentityPartition(), settings: IdentityPartition.settings,
                authenticator: scene.authenticator,
                store: IdentityScene.Store(IdentityTables(), connection: IdentityScene.configuration(of: database)))
            scene.confirm(IdentityScene.subject(1), replyTo: IdentityScene.address)
            #expect(try await waitUntil { scene.replies.count == 1 })
            server.kill()
            for number in 2...20 { scene.confirm(IdentityScene.subject(number)) }
            try server.start()
            let flags: SQL = "SELECT count(*) FROM identity.verified_contacts"
            #expect(try await waitUntil(within: .seconds(60)) { try database.connect().query(flags).column(Int64.self) == [20] })
            #expect(instance.gaveUp.isEmpty)
            instance.stop()
        }

        @Test func `what a crash of Postgres takes back from the projection is read again before anything is decided on it`()
            async throws
        {
            let instance = scene.start()
            let flags: SQL = "SELECT count(*) FROM identity.verified_contacts"
            let tables = IdentityScene.tables + ["identity.checkpoints"]
            for number in 1...10 { scene.confirm(IdentityScene.subject(number)) }
            #expect(try await waitUntil { try scene.query(flags).column(Int64.self) == [10] })
            for (number, table) in tables.enumerated() {
                try scene.query("CREATE TABLE public.saved_\(unsafe: "\(number)") AS TABLE \(unsafe: table)")
            }
            for number in 11...20 { scene.confirm(IdentityScene.subject(number)) }
            #expect(try await waitUntil { try scene.query(flags).column(Int64.self) == [20] })

            // As after a crash that lost the last commits: everything as it was, every connection gone.
            let connection = try scene.database.connect()
            try connection.transaction { connection in
                try connection.query("TRUNCATE \(unsafe: tables.joined(separator: ", ")) CASCADE")
                for (number, table) in tables.enumerated() {
                    try connection.query("INSERT INTO \(unsafe: table) TABLE public.saved_\(unsafe: "\(number)")")
                }
                try connection.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'test' AND pid <> pg_backend_pid()
                    """)
            }
            scene.confirm(IdentityScene.subject(21), replyTo: IdentityScene.address)
            #expect(try await waitUntil { try connection.query(flags).column(Int64.self) == [21] })
            #expect(instance.gaveUp.isEmpty)
            instance.stop()
            #expect(Set(instance.happened.compactMap(\.envelope.causation)).count == 21)
        }

        @Test func `the gateway's role may read the view and nothing else`() throws {
            let database = try TestDatabase.create()
            let connection = try database.connect()
            // The server is shared with other tests, and roles with it.
            try connection.query("SELECT pg_advisory_lock(4711)")
            let hadRole = try !connection.query("SELECT 1 FROM pg_roles WHERE rolname = 'gateway'").isEmpty
            if !hadRole { try connection.query("CREATE ROLE gateway") }
            try Preparation.apply(IdentityService.migrations(), IdentityScene.configuration(of: database))
            let rights = try connection.query(
                """
                SELECT has_table_privilege('gateway', 'identity.accounts_for_gateway', 'SELECT'),
                    has_table_privilege('gateway', 'identity.users', 'SELECT'),
                    has_schema_privilege('gateway', 'identity_sealing', 'USAGE')
                """
            ).decode(Bool.self, Bool.self, Bool.self)
            #expect(rights[0] == (true, false, false))
            if !hadRole {
                try connection.query("DROP OWNED BY gateway")
                try connection.query("DROP ROLE gateway")
            }
        }
    }
}
