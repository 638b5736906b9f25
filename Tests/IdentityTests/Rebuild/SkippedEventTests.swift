import AttachedProjections
import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import Foundation
import IdentityDomain
import JSON
import Postgres
import Projections
import Runtime
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    /// This version can read the event that an operator of an older one has had skipped.
    @Suite struct SkippedEventTests {
        private let past: RebuildScene
        private var scene: IdentityScene { past.scene }
        private let subject = IdentityScene.subject(1)
        private var own: TopicPartition { TopicPartition(.identityEvents, IdentityScene.partition(of: subject)) }

        init() throws { past = try RebuildScene() }

        /// A process that has read nothing yet.
        private func access() throws -> OperatorAccess {
            OperatorAccess(
                log: scene.log, authenticator: try EventRelay.authenticator(), routing: scene.routing,
                keys: DataKeyStore(secret: CheckScene.secret), database: IdentityScene.configuration(of: scene.database))
        }

        private func start() throws -> IdentityScene.Instance {
            let store = scene.store()
            return IdentityScene.Instance(
                log: scene.log, domain: store.tables.domain, settings: IdentityPartition.settings,
                authenticator: try EventRelay.authenticator(), store: store)
        }

        private func register() async throws -> UserID {
            let told = try await scene.ask(
                Register(subject: subject, channel: .email, data: .example(), client: .example()), at: subject.routingKey)
            return try #require(told.data?["user"]?["id"]?.string.flatMap { UserID($0) })
        }

        private func append(_ records: [OutgoingRecord]) throws {
            let producer = try scene.log.makeProducer(client: "other")
            defer { producer.close() }
            for record in records { producer.append(record) { _ in } }
            producer.flush(within: .seconds(10))
        }

        /// Appends valid events; each may depend on the offset of the one before.
        private func append(_ bodies: [(_ offset: Int64) throws -> EventBody]) throws -> Int64 {
            for body in bodies {
                var reader = ChainReader(
                    own, at: nil, log: try scene.log.describe().id, authenticator: try EventRelay.authenticator())
                var last: EventEnvelope?
                for record in scene.log.records(of: own) { if case .valid(let event) = try reader.read(record) { last = event } }
                let event = try #require(last)
                var chain = try ChainWriter(own, after: reader.head, authenticator: scene.authenticator, writer: "other")
                try append([
                    chain.append(
                        body(event.offset), id: .random(), key: event.key, at: event.time, inboxes: event.inboxes)
                ])
            }
            return Int64(scene.log.records(of: own).count - 1)
        }

        /// Makes the user an administrator, and has that skipped. Returns where it stands.
        private func promote(_ user: UserID) throws -> SkippedEvent {
            let encoded = SchemaCodec.current.encode(GroupsChanged(user: user, groups: ["admin"]))
            let end = try append([
                { _ in EventBody(type: encoded.type, subject: nil, data: encoded.data) },
                { SkippedEvent(own, offset: $0, reason: "a bad release").body },
            ])
            return SkippedEvent(own, offset: end - 1, reason: "a bad release")
        }

        private func audit(_ line: String) throws -> [JSON] {
            let path = NSTemporaryDirectory() + UUID().uuidString
            defer { try? FileManager.default.removeItem(atPath: path) }
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            let file = try #require(FileHandle(forWritingAtPath: path))
            let operations = AuditOperations(try access(), auditKey: AuditKeyTable(secret: CheckScene.secret))
            let wanted = try AuditArguments(line.split(separator: " ").map(String.init), now: scene.clock.now)
            #expect(try operations.run(wanted, StopFlag(), output: TextOutput(file.fileDescriptor)) == 0)
            return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { try JSON.parse(String($0)) }
        }

        @Test func `it counts nowhere, though it could be read`() async throws {
            let instance = scene.start()
            let user = try await register()
            instance.stop()
            let rows = try past.rows()
            let skipped = try promote(user)
            try append([skipped.announcement(by: scene.authenticator)])

            let other = try start()
            #expect(try await waitUntil { other.driver.status.ready.count == IdentityScene.partitions })
            #expect(try await waitUntil { try ProjectionStatus(access()).partitions().allSatisfy { $0.lag == 0 } })
            other.stop()
            #expect(other.gaveUp.isEmpty)
            #expect(try past.rows() == rows)

            #expect(try IdentityRebuild(access()).verify().allSatisfy(\.isEqual))
            #expect(try IdentityRebuild(access()).run().skipped == 1)
            #expect(try past.rows() == rows)
            let schema = try IdentityRebuild(access()).asOf(scene.clock.now)
            #expect(try past.rows(schema: schema) == rows)

            let told = try audit("log --format jsonl").filter { $0["offset"]?.int64 == skipped.offset }
            #expect(told.map { $0["skipped"]?.string } == ["a bad release"])
            #expect(try audit("log --format jsonl").count { $0["skipped"] != nil } == 1)
        }

        @Test func `a rebuild finds out by itself, and makes right what was projected before`() async throws {
            let instance = scene.start()
            let user = try await register()
            instance.stop()
            let rows = try past.rows()
            let skipped = try promote(user)
            // Nobody was told.
            let other = try start()
            #expect(try await waitUntil { try ProjectionStatus(access()).partitions().allSatisfy { $0.lag == 0 } })
            other.stop()
            #expect(try past.rows() != rows)
            #expect(try !IdentityRebuild(access()).verify().allSatisfy(\.isEqual))
            #expect(try IdentityRebuild(access()).run().skipped == 1)
            #expect(try past.rows() == rows)
            // The operator's command makes up for it.
            let status = ProjectionStatus(try access())
            #expect(try status.skip(skipped.offset, ofPartition: own.partition, reason: "again") == .done)
            #expect(try status.skip(skipped.offset, ofPartition: own.partition, reason: "again") == .noPoison)
            let reader = try EventRelay.authenticator()
            try reader.readAnnouncements(of: scene.log)
            #expect(reader.skipped == [skipped])
        }

        @Test func `an attached projection passes it over`() async throws {
            let instance = scene.start()
            _ = try await register()
            instance.stop()
            // The registration itself.
            let end = try append([{ SkippedEvent(own, offset: $0, reason: "a bad release").body }])
            try append([SkippedEvent(own, offset: end - 1, reason: "a bad release").announcement(by: scene.authenticator)])
            let runner = AttachedRunner(
                DailyFigures(), log: scene.log, authenticator: try EventRelay.authenticator(),
                database: IdentityScene.configuration(of: scene.database),
                context: ServiceContext(logger: .silent, metrics: Metrics()))
            let run = Task { try await runner.run() }
            #expect(
                try await waitUntil {
                    try scene.query("SELECT to_regclass('daily.checkpoints') IS NOT NULL").column(Bool.self) == [true]
                        && scene.query(
                            "SELECT FROM daily.checkpoints WHERE partition = \(own.partition) AND position LIKE \("\(end + 1)/%")"
                        ).count == 1
                })
            #expect(try scene.query("SELECT FROM daily.figures").isEmpty)
            run.cancel()
            try await run.value
        }
    }
}
