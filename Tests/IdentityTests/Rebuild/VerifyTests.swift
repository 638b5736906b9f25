import Crypto
import EventLog
import EventSchema
import IdentityDomain
import Postgres
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    @Suite struct VerifyTests {
        private let past: RebuildScene
        private var scene: IdentityScene { past.scene }

        init() throws { past = try RebuildScene() }

        /// One change in each table, by hand.
        private static let changes = [
            "users": "UPDATE identity.users SET proven = NOT proven WHERE id = (SELECT min(id::text)::uuid FROM identity.users)",
            "identifiers": "DELETE FROM identity.identifiers WHERE subject = (SELECT subject FROM identity.identifiers LIMIT 1)",
            "onboarding_sessions": """
            INSERT INTO identity.onboarding_sessions SELECT gen_random_uuid(), home, partition, subject, channel, 'expired',
            proof, created_at, expires_at, verified_at, data_key, NULL, NULL, NULL, 0 FROM identity.onboarding_sessions LIMIT 1
            """,
            "verified_contacts": "UPDATE identity.verified_contacts SET waiting = NOT waiting",
            "sessions": "UPDATE identity.sessions SET failed_checks = failed_checks + 1",
            "ended_sessions": "DELETE FROM identity.ended_sessions",
            "devices": "UPDATE identity.devices SET issued_at = issued_at - interval '1 second'",
            "login_failures": "UPDATE identity.login_failures SET failures = failures + 1",
            "sign_up_notices": "UPDATE identity.sign_up_notices SET noticed_at = noticed_at + interval '1 ms'",
            "outcomes": "DELETE FROM identity.outcomes",
            "checkpoints": """
            UPDATE identity.checkpoints SET position = regexp_replace(position, '[^/]*$', repeat('A', 43))
            """,
        ]

        @Test func `every change by hand is found, in each table, and nothing else`() async throws {
            let instance = scene.start()
            try await past.live(instance, seed: 12, rounds: 30)
            scene.confirm(IdentityScene.subject(90))
            #expect(try await waitUntil { try !past.rows()["verified_contacts"]!.isEmpty })
            instance.stop()
            // What no life is sure to leave behind.
            let partition = IdentityScene.partition(of: IdentityScene.subject(1))
            #expect(try past.rebuild().verify().allSatisfy(\.isEqual))
            #expect(Set(Self.changes.keys) == Set(ShadowSchema.tables + ["checkpoints"]), "partition \(partition)")
            for (table, change) in Self.changes.sorted(by: { $0.key < $1.key }) {
                let before = try past.rows()
                let checkpoints = try scene.query("SELECT partition::int8, position FROM identity.checkpoints").decode(
                    Int.self, String.self)
                let isEmpty = before[table]?.isEmpty ?? false
                try scene.query(SQL(unsafe: change))
                let different = try past.rebuild().verify().filter { !$0.isEqual }
                if !isEmpty {
                    #expect(different.map(\.table) == [table], "\(table)")
                    #expect(different.first?.keys.isEmpty == false)
                }
                for (partition, position) in checkpoints {
                    try scene.query(
                        "UPDATE identity.checkpoints SET position = \(position) WHERE partition = \(Int32(partition))")
                }
                // A rebuild puts it right.
                _ = try past.rebuild().run()
                #expect(try past.rows() == before)
            }
        }

        @Test func `nothing is changed by it, and nothing stays of it`() async throws {
            let instance = scene.start()
            try await past.live(instance, seed: 13, rounds: 5)
            instance.stop()
            try scene.query("UPDATE identity.users SET disabled = NOT disabled")
            let rows = try past.rows()
            _ = try past.rebuild().verify()
            #expect(try past.rows() == rows)
            let schemas = try scene.query("SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'identity%' ORDER BY 1")
            #expect(try schemas.column(String.self) == ["identity", "identity_keys", "identity_restored", "identity_sealing"])
        }
    }
}
