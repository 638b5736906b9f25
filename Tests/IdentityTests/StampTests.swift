import EventLog
import EventSchema
import IdentityDomain
import IdentityService
import Postgres
import TestSupport
import Testing

extension ServiceTests {
    /// From `code-confirmed` in the log to rows and the answer.
    @Suite struct StampTests {
        private let scene: IdentityScene
        private let alice = IdentityScene.subject(1)

        init() throws { scene = try IdentityScene() }

        private func flags() throws -> [Subject] {
            try scene.query("SELECT subject FROM identity.verified_contacts ORDER BY subject").column([UInt8].self)
                .compactMap { Subject(bytes: $0) }
        }

        @Test func `a confirmation leaves a flag of ten minutes and is answered once`() async throws {
            let instance = scene.start()
            scene.confirm(alice, replyTo: IdentityScene.address)
            #expect(try await waitUntil { scene.replies.count == 1 })
            #expect(scene.replies[0].outcome == "ok")
            let row = try scene.query(
                "SELECT subject, partition, channel, expires_at - verified_at = interval '10 minutes' FROM identity.verified_contacts"
            ).decode([UInt8].self, Int.self, String.self, Bool.self)
            #expect(row.count == 1)
            #expect(row[0] == (alice.bytes, IdentityScene.partition(of: alice), "email", true))
            #expect(instance.stop())
            #expect(scene.replies.count == 1)
        }

        @Test func `the answer comes after the rows`() async throws {
            let instance = scene.start()
            for number in 1...50 { scene.confirm(IdentityScene.subject(number), replyTo: IdentityScene.address) }
            var isConsistent = true
            #expect(
                try await waitUntil {
                    let answered = scene.replies.count
                    let flagged = try flags().count
                    if flagged < answered { isConsistent = false }
                    return answered == 50
                })
            #expect(isConsistent)
            instance.stop()
        }

        @Test func `account and active sessions are stamped, what does not apply is left alone`() async throws {
            let (active, expired, superseded, other) = (
                OnboardingSessionID.example(), OnboardingSessionID.example(), OnboardingSessionID.example(),
                OnboardingSessionID.example()
            )
            let bob = IdentityScene.subject(2)
            try scene.addUser(scene.user(1), with: alice)
            try scene.addUser(scene.user(2), with: bob)
            try scene.addSession(active, for: alice)
            try scene.addSession(expired, for: alice, lifetime: .seconds(-1))
            try scene.addSession(superseded, for: alice, status: "superseded")
            try scene.addSession(other, for: bob)
            let instance = scene.start()
            scene.confirm(alice, replyTo: IdentityScene.address)
            #expect(try await waitUntil { scene.replies.count == 1 })
            let users = try scene.query("SELECT user_id FROM identity.identifiers WHERE verified_at IS NOT NULL").column(
                PostgresUUID.self)
            #expect(users == [PostgresUUID(scene.user(1).bytes)])
            let sessions = try scene.query("SELECT id FROM identity.onboarding_sessions WHERE verified_at IS NOT NULL")
                .column(PostgresUUID.self)
            #expect(sessions == [PostgresUUID(active.bytes)])
            #expect(try flags() == [alice])
            instance.stop()
        }

        @Test func `a second confirmation moves no stamp, but the flag`() async throws {
            try scene.addUser(scene.user(1), with: alice)
            let instance = scene.start()
            scene.confirm(alice, replyTo: IdentityScene.address)
            #expect(try await waitUntil { scene.replies.count == 1 })
            let read: SQL = """
                SELECT identifier.verified_at, flag.verified_at FROM identity.identifiers AS identifier
                JOIN identity.verified_contacts AS flag USING (subject)
                """
            let first = try scene.query(read).decode(PostgresTimestamp.self, PostgresTimestamp.self)
            scene.clock.advance(by: .minutes(1))
            scene.confirm(alice, replyTo: IdentityScene.address)
            #expect(try await waitUntil { scene.replies.count == 2 })
            let second = try scene.query(read).decode(PostgresTimestamp.self, PostgresTimestamp.self)
            #expect(second[0].0 == first[0].0)
            #expect(second[0].1.milliseconds >= first[0].1.milliseconds + 60_000)
            instance.stop()
        }

        @Test func `the code of a reset is not Identity's`() async throws {
            let instance = scene.start()
            scene.confirm(alice, purpose: .passwordReset, replyTo: IdentityScene.address)
            let bob = IdentityScene.subject(2)
            scene.confirm(bob, replyTo: IdentityScene.address)
            #expect(try await waitUntil { scene.replies.count == 1 })
            #expect(try flags() == [bob])
            instance.stop()
        }

        @Test func `flags that are long over leave the table`() async throws {
            let instance = scene.start()
            let others = (2...200).map(IdentityScene.subject).filter {
                IdentityScene.partition(of: $0) == IdentityScene.partition(of: alice)
            }
            scene.confirm(alice, replyTo: IdentityScene.address)
            #expect(try await waitUntil { scene.replies.count == 1 })
            scene.clock.advance(by: .days(1) + .minutes(11))
            scene.confirm(others[0], replyTo: IdentityScene.address)
            #expect(try await waitUntil { scene.replies.count == 2 })
            #expect(try flags() == [others[0]])
            instance.stop()
        }

        @Test func `the gateway sees accounts, and nothing of erased ones`() throws {
            try scene.addUser(scene.user(1), with: alice, disabled: true)
            try scene.addUser(scene.user(2), with: IdentityScene.subject(2), erased: true)
            let rows = try scene.query("SELECT * FROM identity.accounts_for_gateway").decode(
                [UInt8].self, PostgresUUID.self, Int64.self, Bool.self)
            #expect(rows.count == 1)
            #expect(rows[0] == (alice.bytes, PostgresUUID(scene.user(1).bytes), 3, true))
        }
    }
}

extension Interval {
    fileprivate static func + (left: Interval, right: Interval) -> Interval {
        Interval(milliseconds: left.milliseconds + right.milliseconds)
    }
}
