import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import NotifierDomain
import TestSupport
import Testing

@testable import NotifierService

extension ServiceTests {
    @Suite struct PoisonTests {
        private let scene: NotifierScene
        private let provider = ScriptedProvider()
        private let subject = SealedCodes.subject(1)

        init() throws { scene = try NotifierScene() }

        private func reset() throws -> PasswordReset {
            let user = try #require(UserID("00000000-0000-8000-8000-000000000001"))
            let hash = try #require(Ciphertext(bytes: Random.bytes(60)))
            return PasswordReset(
                subject: subject, account: AccountReference(user: user, credentialVersion: 1), passwordHash: hash, ended: [],
                droppedDevices: [], notice: try scene.sealing.notice(subject: subject))
        }

        private var place: TopicPartition {
            TopicPartition(.identityEvents, subject.routingKey.partition(among: NotifierScene.partitions))
        }

        /// The valid events of the partition that the subject belongs to, and the head behind them.
        private func identityEvents() throws -> (events: [EventEnvelope], head: ChainHead) {
            var reader = ChainReader(place, at: nil, log: try scene.log.describe().id, authenticator: scene.authenticator)
            var events: [EventEnvelope] = []
            for record in scene.log.records(of: place) {
                if case .valid(let event) = try reader.read(record) { events.append(event) }
            }
            return (events, reader.head)
        }

        /// Appends a valid event, as another version or an operator does.
        private func append(_ body: EventBody) throws {
            let (events, head) = try identityEvents()
            var chain = try ChainWriter(place, after: head, authenticator: scene.authenticator, writer: "other")
            let record = chain.append(
                body, id: .random(), key: subject.routingKey.bytes, at: events.last?.time ?? scene.clock.now,
                inboxes: events.last?.inboxes ?? InboxPositions())
            let producer = try scene.log.makeProducer(client: "other")
            defer { producer.close() }
            producer.append(record) { _ in }
            producer.flush(within: .seconds(10))
        }

        private var messages: Int { provider.calls.flatMap(\.self).count }

        @Test func `an event of another service that cannot be read stops a partition until it is skipped`() async throws {
            let instance = try scene.start([provider])
            try append(EventBody(type: "latchkey.identity.user-registered.v99", subject: nil, data: Array("{}".utf8)))
            let poison = try #require(try identityEvents().events.last)
            #expect(try await waitUntil { !instance.loop.gaveUp.isEmpty })
            #expect(instance.loop.gaveUp.first?.code == .unreadable)
            scene.identity.emit(try reset(), about: subject)
            #expect(try await waitUntil { try identityEvents().events.count == 2 })
            #expect(messages == 0)

            try append(SkippedEvent(place, offset: poison.offset, reason: "written by a version that was withdrawn").body)
            #expect(try await waitUntil { messages == 1 })
            try await instance.stop()

            // Who starts now passes it over as well.
            let other = try scene.start([provider])
            scene.identity.emit(try reset(), about: subject)
            #expect(try await waitUntil { messages == 2 })
            #expect(other.loop.gaveUp.isEmpty)
            try await other.stop()
        }
    }
}
