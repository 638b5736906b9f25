import Crypto
import EventLog
import EventSchema

@testable import EventLog

/// The valid events of a partition, found by the rule and nothing else: told once more here, in the simplest way, so that a
/// mistake in the reader that services use does not go unseen.
struct ValidEvents {
    struct Event {
        var record: Record
        var envelope: EventEnvelope
        /// The MAC key under which the next one is written.
        var key: UInt32
    }

    let partition: TopicPartition
    let authenticator: RecordAuthenticator
    private(set) var events: [Event] = []
    /// Valid events by their offsets.
    private(set) var byOffset: [Int64: Int] = [:]
    private let genesis: [UInt8]
    private(set) var void = 0

    init(_ partition: TopicPartition, log: [UInt8], authenticator: RecordAuthenticator) {
        self.partition = partition
        self.authenticator = authenticator
        genesis = ChainHead.genesis(of: partition, in: log).hash
    }

    /// The MAC key under which the next event must be written.
    var key: UInt32 { events.last?.key ?? 1 }
    var headHash: [UInt8] { events.last?.record.hash ?? genesis }

    /// Takes the next record of the partition; whether it is valid.
    @discardableResult
    mutating func read(_ record: Record) -> Bool {
        guard authenticator.verify(record) == .authentic(key: key),
            let owner = partition.topic.owner, record.text(HeaderName.source) == "/\(owner.rawValue)",
            record.text(HeaderName.sequence) == String(events.count + 1),
            record.text(HeaderName.previous) == Base64URL.encode(headHash), let envelope = EventEnvelope(record)
        else {
            void += 1
            return false
        }
        byOffset[record.offset] = events.count
        let isIntroduction = envelope.body.type == LogRecordType.macKeyIntroduced
        events.append(Event(record: record, envelope: envelope, key: isIntroduction ? key + 1 : key))
        return true
    }

    /// Forgets what was read from an offset on.
    mutating func truncate(at offset: Int64) {
        while let last = events.last, last.record.offset >= offset {
            byOffset[last.record.offset] = nil
            events.removeLast()
        }
    }
}
