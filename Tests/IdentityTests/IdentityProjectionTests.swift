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
            let last = scene.start(in: reader)
            #expect(try await waitUntil { try reader.connect().query(flags).column(Int64.self) == [Int64(count)] })
            last.stop()
            #expect(last.happened.count { $0.event != nil } == count)
            #expect(Set(last.happened.compactMap(\.envelope.causation)).count == count)
        }

        @Test func `a gateway is told of sessions that ended for as long as any access token lives`() async throws {
            for minutes in [5, 59, 90] as [Int64] {
                try scene.query(
                    """
                    INSERT INTO identity.ended_sessions (id, partition, user_id, ended_at)
                    VALUES (\(PostgresUUID(SessionID.random().bytes)), 1, \(PostgresUUID(SessionID.random().bytes)),
                        \(PostgresTimestamp(scene.clock.now - .minutes(minutes))))
                    """)
            }
            // Whatever happens in the partition sweeps its tables, by the log's clock.
            let instance = scene.start()
            let subject = try #require((1...100).map(IdentityScene.subject).first { IdentityScene.partition(of: $0) == 1 })
            scene.confirm(subject, replyTo: scene.address)
            #expect(try await waitUntil { scene.replies.count == 1 })
            #expect(try scene.query("SELECT count(*) FROM identity.ended_sessions").column(Int64.self) == [3])
            // The view goes by the clock of Postgres.
            let now = PostgresTimestamp(scene.clock.now)
            try scene.query("UPDATE identity.ended_sessions SET ended_at = now() - (\(now) - ended_at)")
            #expect(try scene.query("SELECT count(*) FROM identity.revocations_for_gateway").column(Int64.self) == [2])
            instance.stop()
        }

        @Test func `an outage of Postgres passes, and nothing is lost`() async throws {
            let server = try TestServer()
            let database = try TestDatabase.create(on: server)
            try Preparation.apply(IdentityService.migrations(), IdentityScene.configuration(of: database))
            let instance = scene.start(in: database)
            scene.confirm(IdentityScene.subject(1), replyTo: scene.address)
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
            try connection.query("BEGIN")
            try connection.query("TRUNCATE \(unsafe: tables.joined(separator: ", ")) CASCADE")
            for (number, table) in tables.enumerated() {
                try connection.query("INSERT INTO \(unsafe: table) TABLE public.saved_\(unsafe: "\(number)")")
            }
            try connection.query(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'test' AND pid <> pg_backend_pid()
                """)
            try connection.query("COMMIT")
            scene.confirm(IdentityScene.subject(21), replyTo: scene.address)
            #expect(try await waitUntil { try connection.query(flags).column(Int64.self) == [21] })
            #expect(instance.gaveUp.isEmpty)
            instance.stop()
            #expect(Set(instance.happened.compactMap(\.envelope.causation)).count == 21)
        }

        @Test func `the gateway's role may read the views and nothing else`() throws {
            let database = try TestDatabase.create()
            let connection = try database.connect()
            // The server is shared with other tests, and roles with it.
            try connection.query("SELECT pg_advisory_lock(4711)")
            let hadRole = try !connection.query("SELECT 1 FROM pg_roles WHERE rolname = 'gateway'").isEmpty
            if !hadRole { try connection.query("CREATE ROLE gateway") }
            try Preparation.apply(IdentityService.migrations(), IdentityScene.configuration(of: database))
            let rights = try connection.query(
                """
                SELECT has_table_privilege('gateway', 'identity.accounts_for_gateway', 'SELECT')
                        AND has_table_privilege('gateway', 'identity.devices_for_gateway', 'SELECT')
                        AND has_table_privilege('gateway', 'identity.sessions_for_gateway', 'SELECT')
                        AND has_table_privilege('gateway', 'identity.revocations_for_gateway', 'SELECT')
                        AND has_table_privilege('gateway', 'identity.checkpoints_for_gateway', 'SELECT')
                        AND has_table_privilege('gateway', 'identity.user_versions_for_gateway', 'SELECT'),
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
