import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import SeededRandom

@testable import IdentityService

/// One partition of a log, as somebody may change it who has no MAC key.
struct AuditedPartition {
    static let log = [UInt8](repeating: 3, count: 16)
    static let place = TopicPartition(.identityEvents, 2)
    static let keys: [UInt32: Secret] = [1: Secret([UInt8](repeating: 7, count: 32))]

    var records: [Record] = []
    private var chain: ChainWriter
    private var random: SeededGenerator
    let authenticator: RecordAuthenticator

    init(seed: UInt64 = 1, _ count: Int = 0) throws {
        authenticator = try RecordAuthenticator(keys: Self.keys)
        chain = try ChainWriter(
            Self.place, after: .genesis(of: Self.place, in: Self.log), authenticator: authenticator, writer: "one")
        random = SeededGenerator(seed: seed)
        for _ in 0..<count { stand(made()) }
    }

    var head: ChainHead { chain.head }

    /// The next event of the chain, which stands nowhere yet.
    mutating func made(_ type: String = "latchkey.identity.user-enabled.v1", _ data: String? = nil) -> OutgoingRecord {
        Self.made(by: &chain, &random, type, data)
    }

    /// An event that follows the head, by somebody who knows nothing of the others.
    mutating func rival() -> OutgoingRecord { rivals(1)[0] }

    /// Events that follow each other from the head on, as a speculation makes them.
    mutating func rivals(_ count: Int) -> [OutgoingRecord] {
        var other = chain
        return (0..<count).map { _ in Self.made(by: &other, &random, "latchkey.identity.user-disabled.v1", nil) }
    }

    private static func made(
        by chain: inout ChainWriter, _ random: inout SeededGenerator, _ type: String, _ data: String?
    ) -> OutgoingRecord {
        let number = random.next()
        return chain.append(
            EventBody(type: type, subject: "subject", data: Array((data ?? "{\"n\":\(number)}").utf8)),
            id: MessageID(digest: SHA256.hash(Array("\(number)".utf8))), key: [1, 2, 3, 4, 5, 6],
            at: Timestamp(milliseconds: 1_700_000_000_000 + chain.head.sequence * 250), inboxes: InboxPositions())
    }

    /// Has a record stand at the end.
    mutating func stand(_ record: OutgoingRecord) { records.append(stood(record)) }

    func stood(_ record: OutgoingRecord) -> Record {
        Record(
            partition: record.partition, offset: (records.last?.offset ?? -1) + 1,
            time: Timestamp(milliseconds: 1_700_000_000_000 + Int64(records.count) * 250), key: record.key,
            headers: record.headers, value: record.value)
    }

    /// Gives offsets without gaps, as they are where a topic was written anew.
    mutating func renumber() {
        for index in records.indices { records[index].offset = Int64(index) }
    }

    /// Flips one bit of one byte of key, value, or the headers' names and values.
    static func flip(_ record: inout Record, _ random: inout SeededGenerator) {
        let bit = UInt8(1) << UInt8.random(in: 0..<7, using: &random)
        let size = record.key.count + record.value.count + record.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count }
        var place = Int.random(in: 0..<size, using: &random)
        func hits(_ count: Int) -> Bool {
            if place < count { return true }
            place -= count
            return false
        }
        if hits(record.key.count) {
            record.key[place] ^= bit
            return
        }
        if hits(record.value.count) {
            record.value[place] ^= bit
            return
        }
        for index in record.headers.indices {
            if hits(record.headers[index].value.count) {
                record.headers[index].value[place] ^= bit
                return
            }
            if hits(record.headers[index].name.utf8.count) {
                var name = Array(record.headers[index].name.utf8)
                name[place] ^= bit
                record.headers[index].name = String(decoding: name, as: UTF8.self)
                return
            }
        }
    }

    /// What an audit says.
    func report(
        withKeys: Bool = true, authenticator: RecordAuthenticator? = nil, end: Int64? = nil,
        expecting expectations: [ChainExpectation] = [], earlier: ChainReport? = nil
    ) -> ChainReport {
        var walk = ChainWalk(
            Self.place, log: Self.log, authenticator: withKeys ? authenticator ?? self.authenticator : nil,
            expectations: expectations)
        if let earlier { walk.expect(contents: earlier.contents, before: earlier.end, by: "Yesterday's proof") }
        for record in records { walk.read(record) }
        return walk.finish(at: end ?? (records.last?.offset ?? -1) + 1)
    }
}
