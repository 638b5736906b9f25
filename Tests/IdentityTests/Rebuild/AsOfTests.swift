import Crypto
import EventLog
import EventSchema
import IdentityDomain
import JSON
import Postgres
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    @Suite struct AsOfTests {
        private let past: RebuildScene
        private var scene: IdentityScene { past.scene }
        private var keys: DataKeyStore { DataKeyStore(secret: CheckScene.secret) }

        init() throws { past = try RebuildScene() }

        private func register(_ subject: Subject, key: DataKeyID = DataKeyID(of: .random())) async throws -> UserID {
            let told = try await scene.ask(
                Register(subject: subject, channel: .email, data: .example(key: key), client: .example()),
                at: subject.routingKey)
            return try #require(told.data?["user"]?["id"]?.string.flatMap { UserID($0) })
        }

        /// Logs in once more and out.
        private func endSession(of user: UserID, _ subject: Subject) async throws {
            let session = try #require(
                try scene.query("SELECT id FROM identity.sessions WHERE user_id = \(PostgresUUID(user.bytes))")
                    .column(PostgresUUID.self).first.flatMap { SessionID(bytes: $0.bytes) })
            let account = AccountReference(user: user, credentialVersion: 0)
            let verdict = LogIn(
                subject: subject, account: account, verdict: .right, rehash: nil,
                address: AddressTag(bytes: [UInt8](repeating: 1, count: 8))!, device: nil, profileVersion: 0,
                client: .example())
            #expect(try await scene.ask(verdict, at: subject.routingKey).outcome == .ok)
            let end = EndSession(session: session, user: user, reason: .logout)
            #expect(try await scene.ask(end, at: subject.routingKey).outcome == .ok)
        }

        private func erase(_ user: UserID, of subject: Subject) async throws {
            let session = try #require(
                try scene.query("SELECT id FROM identity.sessions WHERE user_id = \(PostgresUUID(user.bytes))")
                    .column(PostgresUUID.self).first.flatMap { SessionID(bytes: $0.bytes) })
            let told = try await scene.ask(
                EraseUser(
                    account: AccountReference(user: user, credentialVersion: 0), session: session, verdict: .right),
                at: subject.routingKey)
            #expect(told.outcome == .ok)
        }

        @Test func `the tables are as they were then`() async throws {
            let instance = scene.start()
            try await past.live(instance, seed: 21, rounds: 12)
            scene.clock.advance(by: .seconds(10))
            let (then, rows) = (scene.clock.now, try past.rows())
            scene.clock.advance(by: .seconds(10))
            for number in 30..<34 { _ = try await register(IdentityScene.subject(number)) }
            instance.stop()
            let schema = try past.rebuild().asOf(then)
            #expect(schema.hasPrefix("identity_as_of_"))
            #expect(try past.rows(schema: schema) == rows)
            #expect(throws: RebuildError.self) { try past.rebuild().asOf(then) }
        }

        @Test func `whoever is erased is in no table, then or now`() async throws {
            let instance = scene.start()
            let (gone, stays) = (IdentityScene.subject(1), IdentityScene.subject(2))
            let key = DataKeyID(of: .random())
            let made = try keys.make([key], over: scene.database.connect())
            let user = try await register(gone, key: key)
            _ = try await register(stays)
            try await endSession(of: user, gone)
            scene.clock.advance(by: .minutes(1))
            let before = scene.clock.now
            scene.clock.advance(by: .minutes(1))
            try await erase(user, of: gone)
            instance.stop()
            #expect(made[key] != nil)
            // However little is held in memory.
            let (written, another) = (try past.rebuild(rowLimit: 0).asOf(before), before - .milliseconds(1_000))
            #expect(try scene.query("SELECT FROM \(unsafe: written).ended_sessions").isEmpty)
            let schema = try past.rebuild().asOf(another)
            #expect(try past.rows(schema: written) == past.rows(schema: schema))
            let summary = try past.rebuild().run()
            #expect(summary.erasedUsers == 1)
            for schema in ["identity", schema] {
                for table in ["identifiers", "sessions", "devices", "onboarding_sessions"] {
                    let rows = try scene.query(
                        "SELECT FROM \(unsafe: schema).\(unsafe: table) WHERE user_id = \(PostgresUUID(user.bytes))")
                    #expect(rows.isEmpty, "\(schema).\(table)")
                }
                let left = try scene.query(
                    """
                    SELECT password_hash, profile FROM \(unsafe: schema).users
                    WHERE id = \(PostgresUUID(user.bytes)) AND (erased_at IS NULL OR password_hash IS NOT NULL OR profile IS NOT NULL)
                    """)
                #expect(left.isEmpty, "\(schema)")
                #expect(try scene.query("SELECT FROM \(unsafe: schema).identifiers").count == 1)
            }
        }

        @Test func `a key that came back with a backup is destroyed again, and one that is missing is reported`() async throws {
            let instance = scene.start()
            let (gone, lost) = (IdentityScene.subject(1), IdentityScene.subject(2))
            let (key, other) = (DataKeyID(of: .random()), DataKeyID(of: .random()))
            _ = try keys.make([key, other], over: scene.database.connect())
            let user = try await register(gone, key: key)
            _ = try await register(lost, key: other)
            let backup = try scene.query("SELECT wrapped FROM identity_keys.data_keys WHERE id = \(PostgresUUID(key.bytes))")
                .column([UInt8].self)
            try await erase(user, of: gone)
            instance.stop()
            func isThere() throws -> Bool {
                try !scene.query(
                    "SELECT FROM identity_keys.data_keys WHERE id = \(PostgresUUID(key.bytes)) AND wrapped IS NOT NULL"
                ).isEmpty
            }
            #expect(try !isThere())
            try scene.query(
                """
                UPDATE identity_keys.data_keys SET wrapped = \(backup[0]), destroyed_at = NULL, reason = NULL
                WHERE id = \(PostgresUUID(key.bytes))
                """)
            try scene.query("DELETE FROM identity_keys.data_keys WHERE id = \(PostgresUUID(other.bytes))")
            _ = try past.rebuild().verify()
            #expect(try isThere())
            let summary = try past.rebuild().run()
            #expect(try !isThere())
            #expect(summary.destroyedKeys == 1)
            #expect(summary.missingKeys == 1)
        }
    }
}
