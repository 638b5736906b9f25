import Crypto
import EventLogSimulated
import EventSchema
import SeededRandom
import Testing

@testable import EventLog

/// What was made here is read back without being looked at once more: that must lead to the very same.
@Suite struct `An event that was made here` {
    private let authenticator = Scene.authenticator

    /// A draft with or without each of what an event may carry.
    private static func draft(_ random: inout SeededGenerator) -> EventDraft {
        func flag() -> Bool { Bool.random(using: &random) }
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) } }
        func number() -> Int64 { Int64.random(in: 0...4_000_000_000_000, using: &random) }
        func id() -> MessageID { MessageID(digest: bytes(16)) }
        var inboxes = InboxPositions()
        if flag() {
            inboxes.commands[.verificationCommands] = CommandPosition(
                offset: number(), time: Timestamp(milliseconds: number()))
        }
        if flag() {
            let head = ChainHead(sequence: 3, hash: bytes(32), offset: 5, key: 1)
            inboxes.events[.identityEvents] = ChainPosition(offset: 6 + number(), head: head)
        }
        let address = ReplyAddress(partition: 7, process: bytes(16), publicKey: bytes(32), request: bytes(16))
        return EventDraft(
            id: id(),
            body: EventBody(
                type: flag() ? "latchkey.test.happened.v1" : LogRecordType.passed, subject: flag() ? "süßes" : nil,
                data: bytes(Int.random(in: 0...40, using: &random))),
            key: bytes(6), time: Timestamp(milliseconds: number()), inboxes: inboxes, writer: id().text, service: .verification,
            speculation: UInt64.random(in: .min ... .max, using: &random), causation: flag() ? id() : nil,
            traceParent: flag() ? "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" : nil,
            replyTo: flag() ? address : nil, deadline: flag() ? Timestamp(milliseconds: number()) : nil,
            remember: flag() ? .milliseconds(number()) : .zero,
            refused: flag()
                ? [
                    RefusedCommand(id: id(), code: "used-up", fingerprint: bytes(8), remember: .seconds(9)),
                    RefusedCommand(id: id(), code: nil, fingerprint: bytes(8), remember: .zero),
                ] : [])
    }

    private func made(_ draft: EventDraft, after head: ChainHead) -> MadeEvent {
        let record = draft.record(after: head, in: Scene.events, by: authenticator)
        return MadeEvent(
            record: record, hash: record.hash, macKey: head.key, envelope: draft.envelope(after: head, in: Scene.events))
    }

    private func appended(_ record: OutgoingRecord, at offset: Int64) -> Record {
        Record(
            partition: record.partition, offset: offset, time: Timestamp(milliseconds: 1_700_000_000_000 + offset),
            key: record.key, headers: record.headers, value: record.value)
    }

    private var reader: ChainReader {
        ChainReader(Scene.events, at: nil, log: Scene.logID, authenticator: authenticator)
    }

    @Test(arguments: 1...200) func `is what a reader makes of its record`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (plain, own) = (self.reader, self.reader)
        for offset in 0..<3 {
            let made = made(Self.draft(&random), after: plain.head)
            let record = appended(made.record, at: Int64(offset))
            guard case .valid(let envelope) = try plain.read(record) else {
                Issue.record("the record is void")
                return
            }
            #expect(own.read(record, madeHere: made) == envelope)
            #expect(own.position == plain.position)
        }
    }

    @Test func `is not taken for another one, nor in another place`() throws {
        var random = SeededGenerator(seed: 1)
        let made = made(Self.draft(&random), after: reader.head)
        let record = appended(made.record, at: 4)
        var others: [Record] = []
        for index in record.headers.indices where !record.headers[index].value.isEmpty {
            var other = record
            other.headers[index].value[0] ^= 1
            others.append(other)
        }
        var other = record
        other.value.append(0)
        others.append(other)
        other = record
        other.key[0] ^= 1
        others.append(other)
        other = record
        other.headers.append(Header("x", "y"))
        others.append(other)
        other = record
        other.partition = TopicPartition(.verificationEvents, 1)
        others.append(other)
        for other in others {
            var reader = self.reader
            #expect(reader.read(other, madeHere: made) == nil)
            #expect(reader.position == self.reader.position)
        }
        // A copy of it comes behind it.
        var reader = self.reader
        #expect(reader.read(record, madeHere: made) != nil)
        let position = reader.position
        #expect(reader.read(appended(made.record, at: 5), madeHere: made) == nil)
        #expect(reader.position == position)
        // The head is to be recognised first.
        reader.interrupted()
        let next = self.made(Self.draft(&random), after: position.head)
        #expect(reader.read(appended(next.record, at: 6), madeHere: next) == nil)
    }
}
