import Crypto
import EventLog
import EventSchema
import Testing

@Suite struct `A chain` {
    /// Five events of one owner.
    static func scene() throws -> Scene {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        for _ in 0..<5 { scene.command("x", 1) }
        try scene.settle(&owner)
        return scene
    }

    @Test func `is valid from end to end`() throws {
        let scene = try Self.scene()
        #expect(try scene.valid().map(\.sequence) == [1, 2, 3, 4, 5])
    }

    @Test(arguments: 0..<5)
    func `breaks where a byte was changed`(index: Int) throws {
        var scene = try Self.scene()
        scene.records[Scene.events]![index].value[0] ^= 1
        #expect(try scene.valid().count == index)
    }

    @Test func `breaks where a header, the key or a record was changed, removed or swapped`() throws {
        let scene = try Self.scene()
        var changed = scene
        changed.records[Scene.events]![2].headers[1].value[0] ^= 1
        #expect(try changed.valid().count == 2)
        changed = scene
        changed.records[Scene.events]![2].key.append(0)
        #expect(try changed.valid().count == 2)
        changed = scene
        changed.records[Scene.events]!.remove(at: 2)
        #expect(try changed.valid().count == 2)
        changed = scene
        changed.records[Scene.events]!.swapAt(1, 2)
        (changed.records[Scene.events]![1].offset, changed.records[Scene.events]![2].offset) = (1, 2)
        #expect(try changed.valid().count == 2)
    }

    @Test func `takes no record of another partition, topic or log`() throws {
        let scene = try Self.scene()
        let records = try #require(scene.records[Scene.events])
        for (partition, log) in [
            (TopicPartition(.verificationEvents, 1), Scene.logID), (TopicPartition(.identityEvents, 0), Scene.logID),
            (Scene.events, Array("another log".utf8)),
        ] {
            var reader = ChainReader(partition, at: nil, log: log, authenticator: Scene.authenticator)
            for var record in records {
                record.partition = partition
                guard case .void = try reader.read(record) else {
                    Issue.record("a record of another chain was valid")
                    return
                }
            }
        }
    }

    @Test func `void records between valid ones change nothing`() throws {
        let scene = try Self.scene()
        let records = try #require(scene.records[Scene.events])
        var reader = ChainReader(Scene.events, at: nil, log: Scene.logID, authenticator: Scene.authenticator)
        var valid = 0
        var offset: Int64 = 0
        for record in records {
            for copy in [record, record, records[0]] {
                var copy = copy
                copy.offset = offset
                offset += 1
                if case .valid = try reader.read(copy) { valid += 1 }
            }
        }
        #expect(valid == 5)
        #expect(reader.position.offset == 15)
        #expect(reader.head.offset == 12)
    }

    @Test func `is recognised again at its head`() throws {
        let scene = try Self.scene()
        let records = try #require(scene.records[Scene.events])
        var reader = ChainReader(Scene.events, at: nil, log: Scene.logID, authenticator: Scene.authenticator)
        for record in records.prefix(3) { _ = try reader.read(record) }
        let position = try #require(ChainPosition(encoded: reader.position.encoded))
        #expect(position == reader.position)
        var again = ChainReader(Scene.events, at: position, log: Scene.logID, authenticator: Scene.authenticator)
        #expect(again.position.start == 2)
        for record in records.dropFirst(2) { _ = try again.read(record) }
        #expect(again.head.sequence == 5)

        var other = ChainReader(Scene.events, at: position, log: Scene.logID, authenticator: Scene.authenticator)
        var changed = records[2]
        changed.value[0] ^= 1
        #expect(throws: LogError.self) { try other.read(changed) }
        #expect(throws: LogError.self) { try other.reachedEnd(2) }
    }

    @Test func `goes on under a new key once that is introduced under the old one`() throws {
        let keys: [UInt32: Secret] = [1: Secret([UInt8](repeating: 7, count: 32)), 2: Secret([UInt8](repeating: 8, count: 32))]
        let both = try RecordAuthenticator(keys: keys)
        func record(_ type: String, _ value: String, after head: ChainHead, key: UInt32) -> OutgoingRecord {
            both.sealed(
                OutgoingRecord(
                    partition: Scene.events, key: [],
                    headers: [
                        Header(HeaderName.id, MessageID.random().text), Header(HeaderName.type, type),
                        Header(HeaderName.source, "/verification"), Header(HeaderName.time, Scene.noon.rfc3339),
                        Header(HeaderName.sequence, String(head.sequence + 1)),
                        Header(HeaderName.previous, Base64URL.encode(head.hash)), Header(HeaderName.writer, "a"),
                        Header(HeaderName.speculation, "0"),
                    ], value: Array(value.utf8)), under: key)
        }
        func landed(_ record: OutgoingRecord, _ offset: Int64) -> Record {
            Record(
                partition: record.partition, offset: offset, time: Scene.noon, key: record.key, headers: record.headers,
                value: record.value)
        }
        var reader = ChainReader(Scene.events, at: nil, log: Scene.logID, authenticator: both)
        // Not introduced yet: void, though it is held.
        guard case .void(.forged) = try reader.read(landed(record("t.v1", "{}", after: reader.head, key: 2), 0)) else {
            Issue.record("a key that was never introduced was accepted")
            return
        }
        let introduction = landed(record(LogRecordType.macKeyIntroduced, #"{"key":2}"#, after: reader.head, key: 1), 1)
        guard case .valid = try reader.read(introduction) else {
            Issue.record("the introduction is not valid")
            return
        }
        #expect(reader.head.key == 2)
        let next = landed(record("t.v1", "{}", after: reader.head, key: 2), 2)
        guard case .valid = try reader.read(next) else {
            Issue.record("the new key is not accepted")
            return
        }
        // Who does not hold the introduced key stops.
        let old = try RecordAuthenticator(keys: [1: try #require(keys[1])])
        var behind = ChainReader(Scene.events, at: nil, log: Scene.logID, authenticator: old)
        _ = try behind.read(introduction)
        #expect(throws: LogError.self) { try behind.read(next) }
    }
}
