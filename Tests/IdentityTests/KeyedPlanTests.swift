import Crypto
import EventSchema
import Postgres
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    /// Statements that are planned once, while the tables are empty, and go on for as long as their connection lives.
    @Suite struct KeyedPlanTests {
        private let database: TestDatabase
        private let connection: PostgresConnection

        init() throws {
            database = try IdentityScene.migratedDatabase()
            connection = try PostgresConnection(IdentityScene.configuration(of: database).goingByKeys)
        }

        private let alice = IdentityScene.subject(1)

        /// Rows of users and identifiers that this connection has looked at and not reported yet.
        private func lookedAt() throws -> Int {
            try connection.query(
                """
                SELECT sum(seq_tup_read + idx_tup_fetch)::int8 FROM pg_stat_xact_user_tables
                WHERE schemaname = 'identity' AND relname IN ('users', 'identifiers')
                """
            ).column(Int.self)[0]
        }

        /// How many rows `body` looks at.
        private func looked(_ body: (PostgresConnection) throws -> Void) throws -> Int {
            try connection.transaction { connection in
                let before = try lookedAt()
                try body(connection)
                return try lookedAt() - before
            }
        }

        private func insertUsers(_ count: Int) throws {
            try connection.query(
                """
                INSERT INTO identity.users (id, home, partition, created_at, credential_version, proven, disabled, groups,
                    data_key, password_hash, profile_version)
                SELECT gen_random_uuid(), decode(lpad(to_hex(n), 12, '0'), 'hex'), 0, now(), 0, false, false, '{}',
                    gen_random_uuid(), '\\x00', 0
                FROM generate_series(1, \(count)) AS n
                """)
            try connection.query(
                """
                INSERT INTO identity.identifiers (subject, home, partition, channel, user_id, attached_at, identifier)
                SELECT decode(lpad(to_hex(row_number() OVER ()), 32, '0'), 'hex'), home, partition, 'email', id, now(), '\\x00'
                FROM identity.users
                """)
        }

        private func expectFewRows(
            _ name: String, _ body: (PostgresConnection) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            for _ in 0..<3 { _ = try looked(body) }
            try insertUsers(500)
            let rows = try looked(body)
            #expect(rows < 20, "\(name) looked at \(rows) rows", sourceLocation: sourceLocation)
        }

        @Test func `homes are found by their keys`() throws {
            let tables = IdentityTables(domain: try IdentityScene().partition())
            try expectFewRows("a decision") { _ = try $0.query(tables.reading([alice.routingKey])) }
        }

        @Test func `accounts of checks are found by their keys`() throws {
            let directory = AccountDirectory(keys: DataKeyStore(secret: CheckScene.secret))
            var request = AccountDirectory.Request()
            request.subjects = [alice]
            request.logins = [alice]
            try expectFewRows("a check") { _ = try directory.look(up: request, at: Timestamp(milliseconds: 0), over: $0) }
        }

        /// The view, and the shape of what `PostgresAccounts` asks it.
        @Test func `accounts that the gateway asks for are found by their keys`() throws {
            try expectFewRows("the gateway") {
                _ = try $0.query(
                    """
                    SELECT account.* FROM unnest(\([alice.bytes])) AS wanted (subject) CROSS JOIN LATERAL (
                        SELECT user_id FROM identity.accounts_for_gateway WHERE subject = wanted.subject OFFSET 0) AS account
                    """)
            }
        }
    }
}
