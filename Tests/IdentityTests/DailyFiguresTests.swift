import AttachedProjections
import EventLog
import EventSchema
import IdentityDomain
import Postgres
import Runtime
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    /// The example of an attached projection, beside a running Identity.
    @Suite struct DailyFiguresTests {
        private let scene: IdentityScene
        private let metrics = Metrics()

        init() throws { scene = try IdentityScene() }

        private func runner(since: Timestamp? = nil) -> AttachedRunner<DailyFigures> {
            AttachedRunner(
                DailyFigures(), log: scene.log, authenticator: scene.authenticator,
                database: IdentityScene.configuration(of: scene.database), since: since,
                context: ServiceContext(logger: .silent, metrics: metrics))
        }

        private var rebuild: AttachedRebuild<DailyFigures> {
            AttachedRebuild(
                DailyFigures(), log: scene.log, authenticator: scene.authenticator,
                database: IdentityScene.configuration(of: scene.database))
        }

        private func register(_ numbers: Range<Int>) async throws {
            for number in numbers {
                let subject = IdentityScene.subject(number)
                let told = try await scene.ask(
                    Register(subject: subject, channel: .email, data: .example()), at: subject.routingKey)
                #expect(told.outcome == .ok)
            }
        }

        private func figures() throws -> [String] {
            guard try scene.query("SELECT to_regclass('daily.figures') IS NOT NULL").column(Bool.self) == [true] else {
                return []
            }
            return try scene.query("SELECT day || ' ' || sign_ups || ' ' || verified FROM daily.figures ORDER BY day")
                .column(String.self)
        }

        private func day(_ time: Timestamp) -> String { String(time.rfc3339.prefix(10)) }

        @Test func `counts every sign-up and verification once, with several runners and after a restart`() async throws {
            let instance = scene.start()
            let first = day(scene.clock.now)
            let runs = (0..<2).map { _ in
                let runner = runner()
                return Task { try await runner.run() }
            }
            try await register(0..<5)
            scene.confirm(IdentityScene.subject(1))
            #expect(try await waitUntil { try figures() == ["\(first) 5 1"] })
            for run in runs { run.cancel() }
            for run in runs { try await run.value }

            scene.clock.advance(by: .days(1))
            let second = day(scene.clock.now)
            try await register(5..<7)
            let again = runner()
            let run = Task { try await again.run() }
            #expect(try await waitUntil { try figures() == ["\(first) 5 1", "\(second) 2 0"] })
            #expect(metrics.render().contains(#"latchkey_attached_events_total{projection="daily",topic="identity.events""#))
            run.cancel()
            try await run.value
            instance.stop()
        }

        @Test func `a rebuild takes the place of tables that are wrong, while the runner goes on`() async throws {
            let instance = scene.start()
            let today = day(scene.clock.now)
            let runner = runner()
            let run = Task { try await runner.run() }
            try await register(0..<4)
            #expect(try await waitUntil { try figures() == ["\(today) 4 0"] })
            try scene.query("UPDATE daily.figures SET sign_ups = 99")
            // Events of the log itself are not counted.
            #expect(try rebuild.run() == 4)
            #expect(try figures() == ["\(today) 4 0"])
            try await register(4..<6)
            #expect(try await waitUntil { try figures() == ["\(today) 6 0"] })
            #expect(try scene.query("SELECT FROM pg_namespace WHERE nspname LIKE 'daily\\_%'").isEmpty)
            run.cancel()
            try await run.value
            instance.stop()
        }

        @Test func `one rebuild at a time`() async throws {
            let connection = try scene.database.connect()
            try connection.query("SELECT pg_advisory_lock(hashtextextended('rebuild of daily', 0))")
            #expect(throws: AttachedRebuild<DailyFigures>.Failure.self) { try rebuild.run() }
        }

        @Test func `it may begin at a time`() async throws {
            let instance = scene.start()
            try await register(0..<3)
            scene.clock.advance(by: .days(1))
            let start = scene.clock.now
            try await register(3..<5)
            let runner = runner(since: start)
            let run = Task { try await runner.run() }
            #expect(try await waitUntil { try figures() == ["\(day(start)) 2 0"] })
            run.cancel()
            try await run.value
            instance.stop()
        }

        private func lag(of projection: String) -> Double {
            let name = "latchkey_attached_lag{projection=\"\(projection)\""
            return metrics.render().split(separator: "\n").filter { $0.hasPrefix(name) }
                .reduce(0) { $0 + (Double($1.split(separator: " ").last ?? "") ?? 0) }
        }

        @Test func `an event that it cannot read stops it, loudly, and nothing else`() async throws {
            let instance = scene.start()
            try await register(0..<1)
            let log = LogRecorder()
            let runner = AttachedRunner(
                Illiterate(), log: scene.log, authenticator: scene.authenticator,
                database: IdentityScene.configuration(of: scene.database),
                context: ServiceContext(logger: Logger(service: "test", sink: log), metrics: metrics))
            let run = Task { try await runner.run() }
            #expect(try await waitUntil { log.entries.contains { $0.message == "the projection stands still" } })
            // How far it is behind grows nevertheless.
            #expect(try await waitUntil { lag(of: "illiterate") >= 1 })
            try await register(1..<6)
            #expect(try await waitUntil { lag(of: "illiterate") >= 6 })
            run.cancel()
            try await run.value
            #expect(try scene.query("SELECT FROM illiterate.checkpoints WHERE position NOT LIKE '0/%'").isEmpty)
            instance.stop()
        }
    }
}

/// Reads nothing that says anything.
private struct Illiterate: AttachedProjection {
    let name = "illiterate"
    let topics = [Topic.identityEvents]
    let files: [(name: String, contents: [UInt8])] = []

    func statements(for events: [EventEnvelope]) throws(UnreadableBody) -> [SQL] {
        throw UnreadableBody(type: events[0].body.type, reason: "cannot read")
    }
}
