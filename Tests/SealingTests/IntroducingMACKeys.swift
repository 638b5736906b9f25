import EventLog
import EventSchema
import Runtime
import Synchronization
import Testing

@testable import Crypto
@testable import Sealing

@Suite(.timeLimit(.minutes(1))) struct IntroducingMACKeys {
    private let log = FakeLog(at: morning)
    private let clock = Clock(morning)

    private func introduction(of key: UInt32, under old: UInt32) throws -> OutgoingRecord {
        try authenticator(1...5).sealed(
            .ofLog(
                LogRecordType.macKeyIntroduced, source: "/operator", in: KeyRecord.partition, key: [],
                value: MACKeyIntroduced(key: key).data), under: old)
    }

    @Test func `what is published from then on is written under it, and what was published before still counts`() throws {
        let keys = try authenticator(1...2)
        let directory = KeyDirectory(authenticator: keys)
        let before = KeyRecord.publishing(key("a"), at: morning, by: keys)
        #expect(try directory.apply(before.standing(at: 0)) == .learned(key("a", publicKey: try publicKey(before))))
        #expect(try directory.apply(introduction(of: 2, under: 1).standing(at: 1)) == .introduced(2))
        #expect(directory.newestMACKey == 2)
        let after = KeyRecord.publishing(key("b"), at: morning, by: keys)
        #expect(after.headers.first { $0.name == HeaderName.macKey }?.value == Array("2".utf8))
        #expect(directory.recipient(.notifier, at: morning)?.id == "a")
    }

    private func publicKey(_ record: OutgoingRecord) throws -> [UInt8] {
        try SchemaCodec.current.decode(
            SealingKeyPublished.self, type: SealingKeyPublished.type.name, data: record.value
        ).publicKey
    }

    @Test func `a key that was retired long ago publishes nothing any more`() throws {
        let directory = KeyDirectory(authenticator: try authenticator(1...2))
        try directory.apply(introduction(of: 2, under: 1).standing(at: 0))
        let old = KeyRecord.publishing(key("a"), at: morning, by: try authenticator())
        #expect(try directory.apply(old.standing(at: 1, time: morning + .hours(2))) == .void(.retiredMACKey))
    }

    @Test func `an introduction that is not held here ends the service`() async throws {
        log.append(try introduction(of: 2, under: 1))
        let keeper = try makeKeeper(log: log, clock: clock, .none)
        await #expect {
            try await keeper.run()
        } throws: { error in
            if case .log(let error)? = error as? SealingError { error.code == .unreadable } else { false }
        }
    }

    @Test func `whoever follows the topic says whether it holds a key, unless the question is an old one`() async throws {
        let question = MACKeyQuestion(
            key: 2,
            replyTo: ReplyAddress(
                partition: 0, process: Random.bytes(16), publicKey: Random.bytes(32), request: Random.bytes(16)))
        log.append(question.record(by: try authenticator()))
        let replies = Mutex<[OutgoingRecord]>([])
        log.onReply.withLock { $0 = { record in replies.withLock { $0.append(record) } } }
        func answers() -> [MACKeyAnswer] {
            replies.withLock { $0 }.compactMap { MACKeyAnswer($0.standing(at: 0)) }
        }
        let lacking = try makeKeeper(log: log, clock: clock, .none)
        try await running(lacking) {
            try await eventually("ready") { lacking.readiness.isReady }
            #expect(answers().isEmpty)
            log.append(question.record(by: try authenticator()))
            try await eventually("answered") { answers() == [MACKeyAnswer(service: .gateway, isHeld: false)] }
        }
        let derived = DerivedSealingKey(service: .verification, secret: .random(count: 32))
        let holding = try makeKeeper(log: log, clock: clock, .derived(derived), macKeys: 1...2)
        try await running(holding) {
            try await eventually("ready") { holding.readiness.isReady }
            log.append(question.record(by: try authenticator()))
            try await eventually("answered") { answers().last == MACKeyAnswer(service: .verification, isHeld: true) }
        }
        #expect(replies.withLock { $0 }.allSatisfy { $0.key == question.replyTo.process })
    }
}
