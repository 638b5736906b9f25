import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import Foundation
import Testing

@testable import IdentityService

@Suite struct `Where a chain is entered` {
    private static let place = AuditedPartition.place
    private let log = SimulatedLog(partitions: 4, id: AuditedPartition.log)
    private let authenticator: RecordAuthenticator
    private var head = ChainHead.genesis(of: place, in: AuditedPartition.log)
    /// Hashes of events of the chain.
    private var valid: Set<[UInt8]> = []

    init() throws { authenticator = try RecordAuthenticator(keys: AuditedPartition.keys) }

    /// Has a writer go on from the head, in the chain or beside it.
    private mutating func write(_ count: Int, by writer: String, isVoid: Bool = false) throws {
        var chain = try ChainWriter(Self.place, after: head, authenticator: authenticator, writer: writer)
        let producer = try log.makeProducer(client: writer)
        defer { producer.close() }
        for _ in 0..<count {
            let record = chain.append(
                EventBody(type: "latchkey.identity.user-enabled.v1", subject: nil, data: Array("{}".utf8)), id: .random(),
                key: [1], at: Timestamp(milliseconds: 1), inboxes: InboxPositions())
            producer.append(record) { _ in }
            if !isVoid { valid.insert(chain.head.hash) }
        }
        producer.flush(within: .seconds(10))
        if !isVoid { head = chain.head }
    }

    private var end: Int64 { Int64(log.records(of: Self.place).count) }

    private func entry(before offset: Int64) throws -> ChainPosition? {
        let consumer = try log.makeConsumer(client: "test", group: nil)
        defer { consumer.close() }
        return try ChainEntry.position(in: Self.place, before: offset, authenticator, over: consumer)
    }

    @Test(arguments: [300, LoopSettings.mostPending])
    mutating func `a void branch that fills the window is not taken for the chain`(length: Int) throws {
        try write(40, by: "a")
        try write(length, by: "b", isVoid: true)
        #expect(try entry(before: end) == nil)
        try write(2_000, by: "a")
        try write(3, by: "c")
        try write(1, by: "a")
        try write(length, by: "b", isVoid: true)
        try write(length, by: "c", isVoid: true)
        var found = 0
        for offset in stride(from: end, to: 1_000, by: -50) {
            guard let position = try entry(before: offset) else { continue }
            found += 1
            #expect(valid.contains(position.head.hash))
            #expect(position.offset <= offset)
        }
        #expect(found > 0)
    }

    @Test mutating func `one owner alone is read as far back as it takes`() throws {
        try write(1_500, by: "a")
        let position = try #require(try entry(before: end))
        #expect(valid.contains(position.head.hash))
        #expect(position.head.offset == position.head.sequence - 1)
        #expect(end - position.offset < 1_024)
        var reader = ChainReader(Self.place, at: position, log: AuditedPartition.log, authenticator: authenticator)
        for record in log.records(of: Self.place).dropFirst(Int(position.start)) { _ = try reader.read(record) }
        #expect(reader.head.sequence == 1_500)
    }

    @Test mutating func `a reading ends where the tail is cut meanwhile`() throws {
        try write(10, by: "a")
        let consumer = try log.makeConsumer(client: "test", group: nil)
        defer { consumer.close() }
        var reading = PartitionReading(Self.place, from: 0, over: consumer)
        var (records, missing): (Int, [Int64]) = (0, [])
        let deadline = ContinuousClock.now + .seconds(60)
        while reading.next < 25, .now < deadline {
            for item in try reading.items(before: 25, within: .milliseconds(20)) {
                switch item {
                case .records(let some): records += some.count
                case .missing(let offset): missing.append(offset)
                }
            }
        }
        #expect(records == 10)
        #expect(missing == [25])
    }

    @Test func `the file of a proof is replaced as a whole, and a device is written to`() throws {
        let folder = NSTemporaryDirectory() + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/proof"
        for text in ["one", "another"] {
            try ProofFile.write(Array(text.utf8), to: path)
            #expect(try ProofFile.read(path) == Array(text.utf8))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["proof"])
        #expect(throws: WholeFile.Failure.self) { try ProofFile.write([1], to: folder + "/nowhere/proof") }
        try ProofFile.write([1], to: "/dev/null")
        #expect(try ProofFile.read("/dev/null") == [])
        do {
            // Whoever gives up in between leaves nothing.
            let file = try WholeFile(replacing: path, permissions: 0o600)
            try file.write(line: [1])
        }
        #expect(try ProofFile.read(path) == Array("another".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["proof"])
    }
}
