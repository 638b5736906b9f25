import EventLog
import EventSchema
import IdentityDomain
import IdentityService
import JSON
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
            scene.confirm(alice, replyTo: scene.address)
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
            for number in 1...50 { scene.confirm(IdentityScene.subject(number), replyTo: scene.address) }
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
            let bob = IdentityScene.subject(2)
            let instance = scene.start()
            let made = try await scene.ask(
                StartOnboarding(subject: alice, channel: .email, data: .example(), proofRequired: false), at: alice.routingKey)
            #expect(made.outcome == .ok)
            let superseded = made.data?["session"]?["id"]?.string
            let active = try await scene.ask(
                StartOnboarding(subject: alice, channel: .email, data: .example(), proofRequired: false), at: alice.routingKey)
            _ = try await scene.ask(Register(subject: alice, channel: .email, data: .example()), at: alice.routingKey)
            _ = try await scene.ask(Register(subject: bob, channel: .email, data: .example()), at: bob.routingKey)
            let before = scene.replies.count
            scene.confirm(alice, replyTo: scene.address)
            #expect(try await waitUntil { scene.replies.count == before + 1 })
            let stamped = try scene.query("SELECT subject FROM identity.identifiers WHERE verified_at IS NOT NULL").column(
                [UInt8].self)
            #expect(stamped == [alice.bytes])
            let sessions = try scene.query("SELECT id::text FROM identity.onboarding_sessions WHERE verified_at IS NOT NULL")
                .column(String.self)
            #expect(sessions == [active.data?["session"]?["id"]?.string])
            #expect(superseded != nil && superseded != sessions.first)
            #expect(try flags() == [alice])
            instance.stop()
        }

        @Test func `a second confirmation moves no stamp, but the flag`() async throws {
            let instance = scene.start()
            _ = try await scene.ask(Register(subject: alice, channel: .email, data: .example()), at: alice.routingKey)
            scene.confirm(alice, replyTo: scene.address)
            #expect(try await waitUntil { scene.replies.count == 2 })
            let read: SQL = """
                SELECT identifier.verified_at, flag.verified_at FROM identity.identifiers AS identifier
                JOIN identity.verified_contacts AS flag USING (subject)
                """
            let first = try scene.query(read).decode(PostgresTimestamp.self, PostgresTimestamp.self)
            scene.clock.advance(by: .minutes(1))
            scene.confirm(alice, replyTo: scene.address)
            #expect(try await waitUntil { scene.replies.count == 3 })
            let second = try scene.query(read).decode(PostgresTimestamp.self, PostgresTimestamp.self)
            #expect(second[0].0 == first[0].0)
            #expect(second[0].1.milliseconds >= first[0].1.milliseconds + 60_000)
            instance.stop()
        }

        @Test func `the code of a reset is not Identity's`() async throws {
            let instance = scene.start()
            scene.confirm(alice, purpose: .passwordReset, replyTo: scene.address)
            let bob = IdentityScene.subject(2)
            scene.confirm(bob, replyTo: scene.address)
            #expect(try await waitUntil { scene.replies.count == 1 })
            #expect(try flags() == [bob])
            instance.stop()
        }

        @Test func `flags that are long over leave the table`() async throws {
            let instance = scene.start()
            let others = (2...200).map(IdentityScene.subject).filter {
                IdentityScene.partition(of: $0) == IdentityScene.partition(of: alice)
            }
            scene.confirm(alice, replyTo: scene.address)
            #expect(try await waitUntil { scene.replies.count == 1 })
            scene.clock.advance(by: .days(1) + .minutes(11))
            scene.confirm(others[0], replyTo: scene.address)
            #expect(try await waitUntil { scene.replies.count == 2 })
            #expect(try flags() == [others[0]])
            instance.stop()
        }
    }
}

extension Interval {
    fileprivate static func + (left: Interval, right: Interval) -> Interval {
        Interval(milliseconds: left.milliseconds + right.milliseconds)
    }
}
