import Crypto
import EventSchema
import Testing

@testable import EventLog

@Suite struct `New MAC keys of the log` {
    private let keys = Scene.authenticator.afresh()

    private func types(_ scene: Scene) throws -> [String] { try scene.valid().map(\.body.type) }
    private let introduced = LogRecordType.macKeyIntroduced

    /// Under which keys the records of the chain stand.
    private func macKeys(_ scene: Scene) -> [String?] {
        (scene.records[Scene.events] ?? []).map { $0.text(HeaderName.macKey) }
    }

    // MARK: In a chain

    @Test func `an owner that hears of one introduces it once, and writes under it from then on`() throws {
        var scene = Scene()
        var owner = scene.owner("a", authenticator: keys)
        try scene.takeOver(&owner)
        scene.command("x", 1)
        try scene.settle(&owner)
        keys.introduce(2, at: scene.now)
        try scene.give(.tick, to: &owner)
        try scene.settle(&owner)
        scene.command("x", 1, macKey: 2)
        try scene.settle(&owner)
        for _ in 0..<3 { try scene.give(.tick, to: &owner) }
        try scene.settle(&owner)
        #expect(try types(scene) == ["latchkey.test.deposited.v1", introduced, "latchkey.test.deposited.v1"])
        #expect(macKeys(scene) == ["1", "1", "2"])
        #expect(scene.replies == ["ok 1", "ok 1"])
        #expect(owner.loop.position.head.key == 2)
    }

    @Test func `one that missed several introduces them one after the other, in an empty chain too`() throws {
        var scene = Scene()
        keys.introduce(2, at: scene.now)
        keys.introduce(3, at: scene.now)
        var owner = scene.owner("a", window: 1, authenticator: keys)
        try scene.takeOver(&owner)
        scene.command("x", 1)
        try scene.settle(&owner)
        #expect(try types(scene) == [introduced, introduced, "latchkey.test.deposited.v1"])
        #expect(macKeys(scene) == ["1", "2", "3"])
    }

    @Test func `of two owners one introduces it, and what the other one was about to say is decided again`() throws {
        var scene = Scene()
        var first = scene.owner("a", authenticator: keys)
        var second = scene.owner("b")
        try scene.takeOver(&first)
        try scene.takeOver(&second)
        keys.introduce(2, at: scene.now)
        scene.command("x", 1)
        try scene.deliver(to: &first)
        try scene.deliver(to: &second)
        // The second one has not heard of it: its event stands before the introduction, which is void by that.
        try scene.send(from: &second)
        try scene.send(from: &first)
        for _ in 0..<4 {
            scene.advance(.milliseconds(100))
            try scene.give(.tick, to: &first)
            try scene.settle(&first)
            try scene.settle(&second)
        }
        #expect(try types(scene).count { $0 == introduced } == 1)
        #expect(try types(scene).count { $0 != introduced } == 1)
        #expect(second.loop.position.head.key == 2)
        scene.command("x", 1)
        try scene.settle(&second)
        // It gives the other one time first.
        scene.advance(.seconds(1))
        try scene.give(.tick, to: &second)
        try scene.settle(&second)
        #expect(try scene.valid().last?.writer == "b")
        #expect(macKeys(scene).last == "2")
    }

    @Test func `what was decided behind an introduction that got lost is decided again`() throws {
        var scene = Scene()
        var owner = scene.owner("a", authenticator: keys)
        try scene.takeOver(&owner)
        keys.introduce(2, at: scene.now)
        scene.command("x", 1)
        try scene.deliver(to: &owner)
        let lost = owner.unsent.removeFirst()
        #expect(owner.unsent.count == 1)
        try scene.send(from: &owner)
        try scene.give(.failed(try #require(lost.token)), to: &owner)
        scene.advance(.seconds(1))
        try scene.give(.tick, to: &owner)
        try scene.settle(&owner)
        #expect(try types(scene) == [introduced, "latchkey.test.deposited.v1"])
        #expect(scene.replies == ["ok 1"])
    }

    @Test func `an owner who does not hold it stands still`() throws {
        var scene = Scene()
        var owner = scene.owner("a", authenticator: keys)
        try scene.takeOver(&owner)
        keys.introduce(2, at: scene.now)
        try scene.give(.tick, to: &owner)
        try scene.settle(&owner)
        let old = try RecordAuthenticator(keys: [1: Secret([UInt8](repeating: 7, count: 32))])
        var behind = scene.owner("b", authenticator: old)
        #expect(throws: LogError.self) { try scene.takeOver(&behind) }
    }

    // MARK: Outside of chains

    private func record(under key: UInt32, at time: Timestamp) -> Record {
        let record = Scene.authenticator.sealed(
            OutgoingRecord(partition: Scene.commands, key: [1], headers: [], value: [2]), under: key)
        return Record(
            partition: record.partition, offset: 0, time: time, key: record.key, headers: record.headers, value: record.value)
    }

    @Test func `a record under the key before counts for an hour more, and one under the key after before it is heard of`() {
        #expect(keys.accepts(record(under: 2, at: Scene.noon)))
        #expect(keys.current == 1)
        keys.introduce(2, at: Scene.noon)
        #expect(keys.current == 2)
        #expect(keys.accepts(record(under: 1, at: Scene.noon + .hours(1))))
        #expect(!keys.accepts(record(under: 1, at: Scene.noon + .hours(1) + .milliseconds(1))))
        #expect(keys.accepts(record(under: 2, at: Scene.noon + .hours(2))))
        // Older ones end with the key that took their place.
        keys.introduce(3, at: Scene.noon + .hours(5))
        #expect(!keys.accepts(record(under: 1, at: Scene.noon + .hours(5))))
        #expect(keys.accepts(record(under: 2, at: Scene.noon + .hours(5))))
    }

    private func introduction(of key: UInt32, under old: UInt32, at offset: Int64 = 0) -> Record {
        let record = Scene.authenticator.sealed(
            OutgoingRecord(
                partition: MACKeyHistory.partition, key: [], headers: [Header(HeaderName.type, introduced)],
                value: MACKeyIntroduced(key: key).data), under: old)
        return Record(
            partition: record.partition, offset: offset, time: Scene.noon, key: [], headers: record.headers, value: record.value)
    }

    @Test func `each is introduced under the one before it, once`() throws {
        var history = MACKeyHistory()
        #expect(try history.read(introduction(of: 3, under: 1), under: 1, by: keys) == .contradictory)
        #expect(try history.read(introduction(of: 2, under: 2), under: 2, by: keys) == .contradictory)
        #expect(keys.current == 1)
        #expect(try history.read(introduction(of: 2, under: 1), under: 1, by: keys) == .introduced(2))
        #expect(try history.read(introduction(of: 2, under: 1), under: 1, by: keys) == .known)
        #expect(try history.read(introduction(of: 3, under: 1), under: 1, by: keys) == .contradictory)
        #expect(keys.current == 2)
    }

    @Test func `one that is not held stops who reads of it`() throws {
        var history = MACKeyHistory()
        let old = try RecordAuthenticator(keys: [1: Secret([UInt8](repeating: 7, count: 32))])
        #expect(throws: LogError.self) { try history.read(introduction(of: 2, under: 1), under: 1, by: old) }
        #expect(old.current == 1)
    }
}
