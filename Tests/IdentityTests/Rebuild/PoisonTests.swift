import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import IdentityDomain
import Postgres
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    @Suite struct PoisonTests {
        private let past: RebuildScene
        private var scene: IdentityScene { past.scene }

        init() throws { past = try RebuildScene() }

        private var status: ProjectionStatus {
            ProjectionStatus(
                OperatorAccess(
                    log: scene.log, authenticator: scene.authenticator, routing: scene.routing,
                    keys: DataKeyStore(secret: CheckScene.secret), database: IdentityScene.configuration(of: scene.database)))
        }

        /// Appends a valid event that nobody can read.
        private func poison(_ partition: Int) throws -> Int64 {
            let own = TopicPartition(.identityEvents, partition)
            var reader = ChainReader(
                own, at: nil, log: try scene.log.describe().id, authenticator: scene.authenticator)
            var last: EventEnvelope?
            for record in scene.log.records(of: own) { if case .valid(let event) = try reader.read(record) { last = event } }
            var chain = try ChainWriter(own, after: reader.head, authenticator: scene.authenticator, writer: "newer")
            let record = chain.append(
                EventBody(type: "latchkey.identity.user-registered.v99", subject: nil, data: Array("{}".utf8)), id: .random(),
                key: last?.key ?? [1, 2, 3, 4, 5, 6], at: last?.time ?? scene.clock.now,
                inboxes: last?.inboxes ?? InboxPositions())
            let producer = try scene.log.makeProducer(client: "newer")
            defer { producer.close() }
            producer.append(record) { _ in }
            producer.flush(within: .seconds(10))
            return Int64(scene.log.records(of: own).count - 1)
        }

        private func register(_ number: Int) async throws -> IdentityScene.Told {
            let subject = IdentityScene.subject(number)
            return try await scene.ask(
                Register(subject: subject, channel: .email, data: .example(), client: .example()), at: subject.routingKey)
        }

        @Test func `a partition stands still at it, loudly, until it is skipped, and then everybody passes it over`() async throws
        {
            let subject = IdentityScene.subject(1)
            let partition = IdentityScene.partition(of: subject)
            let instance = scene.start()
            #expect(try await register(1).outcome == .ok)
            let offset = try poison(partition)
            #expect(try await waitUntil { !instance.gaveUp.isEmpty })
            #expect(instance.gaveUp.first?.code == .unreadable)

            let found = try status.partitions()
            #expect(found.filter { $0.poison != nil }.map(\.partition) == [partition])
            #expect(found[partition].poison?.offset == offset)
            #expect(found[partition].poison?.type == "latchkey.identity.user-registered.v99")
            #expect(found[partition].lag == 1)
            #expect(throws: LogError.self) { try past.rebuild().run() }

            // Only that one.
            #expect(try status.skip(offset - 1, ofPartition: partition, reason: "no") == .noPoison)
            #expect(try status.skip(offset, ofPartition: (partition + 1) % 4, reason: "no") == .noPoison)
            #expect(try status.skip(offset, ofPartition: partition, reason: "written by a version that was withdrawn") == .done)
            #expect(try status.skip(offset, ofPartition: partition, reason: "again") == .noPoison)

            // The instance goes on by itself,
            let told = try await scene.ask(
                LogIn(
                    subject: subject, account: nil, verdict: .wrong, rehash: nil,
                    address: AddressTag(bytes: [UInt8](repeating: 1, count: 8))!, device: nil, profileVersion: 0,
                    client: .example()), at: subject.routingKey)
            #expect(told.outcome != .ok)
            // and so does one that starts now, and a rebuild.
            instance.stop()
            let other = scene.start()
            #expect(try await waitUntil { other.driver.status.ready.count == IdentityScene.partitions })
            #expect(other.gaveUp.isEmpty)
            other.stop()
            #expect(try status.partitions().allSatisfy { $0.poison == nil && $0.lag == 0 })
            let rows = try past.rows()
            let summary = try past.rebuild().run()
            #expect(summary.skipped == 1)
            // Everybody who starts to read is told before.
            let reader = try EventRelay.authenticator()
            try reader.readAnnouncements(of: scene.log)
            #expect(reader.skipped.map(\.offset) == [offset])
            #expect(try past.rows() == rows)
            #expect(try past.rebuild().verify().allSatisfy(\.isEqual))
        }
    }
}
