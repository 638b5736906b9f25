import EventSchema
import IdentityDomain
import JSON
import Postgres
import Runtime
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    /// What was known of somebody who never became a user goes with its data key.
    @Suite struct ExpiryTests {
        private let scene: IdentityScene
        private let alice = IdentityScene.subject(1)

        init() throws { scene = try IdentityScene() }

        /// A data key as a check worker makes it.
        private func makeKey() throws -> DataKeyID {
            let key = DataKeyID(of: .random())
            try scene.query("INSERT INTO identity_keys.data_keys (id, wrapped) VALUES (\(PostgresUUID(key.bytes)), '\\x00')")
            return key
        }

        private func onboarding(_ key: DataKeyID) async throws -> IdentityScene.Told {
            try await scene.ask(
                StartOnboarding(subject: alice, channel: .email, data: .example(key: key), proofRequired: false),
                at: alice.routingKey)
        }

        /// Why a key was destroyed; `nil` while it is there.
        private func fate(of key: DataKeyID) throws -> String? {
            try scene.query(
                """
                SELECT CASE WHEN wrapped IS NULL THEN reason END FROM identity_keys.data_keys
                WHERE id = \(PostgresUUID(key.bytes))
                """
            ).column(String?.self).first ?? nil
        }

        private func texts() throws -> [String] {
            try scene.query(
                "SELECT status || ' ' || (password_hash IS NULL)::text FROM identity.onboarding_sessions ORDER BY created_at"
            ).column(String.self)
        }

        @Test func `a session whose time is over expires, and its data key is destroyed`() async throws {
            let first = scene.start()
            let key = try makeKey()
            _ = try await onboarding(key)
            first.stop()
            scene.clock.advance(by: .hours(25))
            let instance = scene.start()
            let expiry = OnboardingExpiry(
                instance.driver, database: IdentityScene.configuration(of: scene.database), interval: .milliseconds(20),
                logger: Logger(service: "identity", sink: LogRecorder()))
            let running = Task { try await expiry.run() }
            #expect(try await waitUntil { try fate(of: key) == "expired" })
            #expect(try texts() == ["expired true"])
            running.cancel()
            _ = try await running.value
            instance.stop()
        }

        @Test func `a session that expires days late leaves no row, whatever happened in that minute before`() async throws {
            let first = scene.start()
            let key = try makeKey()
            _ = try await onboarding(key)
            first.stop()
            scene.clock.advance(by: .days(3))
            let instance = scene.start()
            // Another event of the partition has its rows looked through.
            let neighbour = (2...200).map(IdentityScene.subject).first {
                IdentityScene.partition(of: $0) == IdentityScene.partition(of: alice)
            }
            let before = scene.replies.count
            scene.confirm(try #require(neighbour), replyTo: scene.address)
            #expect(try await waitUntil { scene.replies.count == before + 1 })
            let expiry = OnboardingExpiry(
                instance.driver, database: IdentityScene.configuration(of: scene.database), interval: .milliseconds(20),
                logger: Logger(service: "identity", sink: LogRecorder()))
            let running = Task { try await expiry.run() }
            #expect(try await waitUntil { try fate(of: key) == "expired" })
            #expect(try texts().isEmpty)
            running.cancel()
            _ = try await running.value
            instance.stop()
        }

        @Test func `a session that is superseded loses its key, one that is completed leaves it to its user`() async throws {
            let instance = scene.start()
            let (old, new) = (try makeKey(), try makeKey())
            _ = try await onboarding(old)
            let told = try await onboarding(new)
            #expect(try fate(of: old) == "superseded")
            let session = try #require(told.data?["session"]?["id"]?.string.flatMap { OnboardingSessionID($0) })
            let completed = try await scene.complete(session, try #require(told.secret("onboardingToken")))
            #expect(completed.outcome == .ok)
            #expect(try fate(of: new) == nil)
            #expect(try texts() == ["superseded true", "completed true"])
            let users = try scene.query("SELECT data_key, password_hash IS NOT NULL FROM identity.users").decode(
                PostgresUUID.self, Bool.self)
            #expect(users.count == 1)
            #expect(users[0] == (PostgresUUID(new.bytes), true))
            instance.stop()
        }

        @Test func `an erased user's key is destroyed with the event that says so`() async throws {
            let instance = scene.start()
            let key = try makeKey()
            let registered = try await scene.ask(
                Register(subject: alice, channel: .email, data: .example(key: key)), at: alice.routingKey)
            let user = try #require(registered.data?["user"]?["id"]?.string.flatMap { UserID($0) })
            let token = try #require(registered.secret("refreshToken").flatMap { ReferenceToken($0, kind: .refresh) })
            let session = try #require(scene.routing.open(token).flatMap { SessionID(bytes: $0.reference) })
            let account = AccountReference(user: user, credentialVersion: 0)
            let erased = try await scene.ask(
                EraseUser(account: account, session: session, verdict: .right), at: alice.routingKey)
            #expect(erased.outcome == .ok)
            #expect(try fate(of: key) == "erased")
            #expect(try scene.query("SELECT 1 FROM identity.accounts_for_gateway").isEmpty)
            #expect(try scene.query("SELECT 1 FROM identity.devices").isEmpty)
            #expect(
                try scene.query("SELECT session_id FROM identity.revocations_for_gateway").column(PostgresUUID.self)
                    == [PostgresUUID(session.bytes)])
            instance.stop()
        }

        @Test func `a key that nothing came of is destroyed after a day, once everything is projected`() async throws {
            let instance = scene.start()
            let (used, unused, young) = (try makeKey(), try makeKey(), try makeKey())
            _ = try await onboarding(used)
            try scene.query(
                "UPDATE identity_keys.data_keys SET created_at = now() - interval '2 days' WHERE id <> \(PostgresUUID(young.bytes))"
            )
            let keys = UnusedKeys(
                log: scene.log, database: IdentityScene.configuration(of: scene.database),
                logger: Logger(service: "identity", sink: LogRecorder()))

            // What another instance has appended may name any key.
            instance.stop()
            let elsewhere = try IdentityScene.migratedDatabase()
            let other = scene.start(in: elsewhere)
            _ = try await scene.ask(
                Register(subject: alice, channel: .email, data: .example(key: unused)), at: alice.routingKey)
            other.stop()
            #expect(try keys.sweep() == 0)

            let again = scene.start()
            let count: SQL = "SELECT count(*) FROM identity.users"
            #expect(try await waitUntil { try scene.query(count).column(Int64.self) == [1] })
            let refused = try makeKey()
            try scene.query(
                "UPDATE identity_keys.data_keys SET created_at = now() - interval '2 days' WHERE id = \(PostgresUUID(refused.bytes))"
            )
            #expect(
                try await scene.ask(
                    Register(subject: alice, channel: .email, data: .example(key: refused)), at: alice.routingKey
                ).outcome == .accountExists)
            again.stop()
            #expect(try keys.sweep() == 1)
            #expect(try fate(of: refused) == "unused")
            for key in [used, unused, young] { #expect(try fate(of: key) == nil) }
        }
    }
}
