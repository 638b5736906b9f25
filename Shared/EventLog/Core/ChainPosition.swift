internal import Crypto
public import EventSchema

/// The newest valid event of a chain.
public struct ChainHead: Hashable, Sendable {
    /// Place in the chain, from 1; 0 before the first event.
    public var sequence: Int64
    /// SHA-256 of that event's record; before the first event, what names the chain.
    public var hash: [UInt8]
    /// Where that event stands; -1 before the first event.
    public var offset: Int64
    /// The MAC key under which the next event is written.
    public var key: UInt32

    public init(sequence: Int64, hash: [UInt8], offset: Int64, key: UInt32) {
        self.sequence = sequence
        self.hash = hash
        self.offset = offset
        self.key = key
    }

    /// Before the first event: its hash names log, topic and partition, so that no chain can stand in another's place.
    public static func genesis(of partition: TopicPartition, in log: [UInt8]) -> ChainHead {
        let named = RecordDigest.canonical(
            partition, key: log, headers: [], value: Array("latchkey.log.genesis.v1".utf8), withMAC: true)
        return ChainHead(sequence: 0, hash: SHA256.hash(named), offset: -1, key: 1)
    }
}

/// How far a reader has read a chain: the next offset, and the head by which it will recognise the log again.
public struct ChainPosition: Hashable, Sendable {
    public var offset: Int64
    public var head: ChainHead

    public init(offset: Int64, head: ChainHead) {
        self.offset = offset
        self.head = head
    }

    /// Where reading starts: the head is read again, to see that the log is still the same.
    public var start: Int64 { head.sequence > 0 ? head.offset : 0 }

    /// As it stands in checkpoints, in the metadata of committed offsets and in `ce_inboxes`.
    public var encoded: String {
        "\(offset)/\(head.offset)/\(head.sequence)/\(head.key)/\(Base64URL.encode(head.hash))"
    }

    public init?(encoded: some StringProtocol) {
        let parts = encoded.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, let offset = Int64(parts[0]), let headOffset = Int64(parts[1]), let sequence = Int64(parts[2]),
            let key = UInt32(parts[3]), let hash = Base64URL.decode(String(parts[4])), hash.count == 32,
            offset >= 0, sequence >= 0, headOffset >= -1, headOffset < offset || sequence == 0
        else { return nil }
        self.init(offset: offset, head: ChainHead(sequence: sequence, hash: hash, offset: headOffset, key: key))
    }
}

/// How far an inbox of commands has been read.
public struct CommandPosition: Hashable, Sendable {
    /// The next offset.
    public var offset: Int64
    /// When the record before it was appended: a topic that was made anew is noticed by it.
    public var time: Timestamp

    public init(offset: Int64, time: Timestamp) {
        self.offset = offset
        self.time = time
    }
}

/// How far all inboxes had been read when an event was decided.
public struct InboxPositions: Hashable, Sendable {
    public var commands: [Topic: CommandPosition] = [:]
    public var events: [Topic: ChainPosition] = [:]

    public init() {}

    /// The next offset of an inbox; 0 when nothing of it has been read.
    public func offset(of topic: Topic) -> Int64 { commands[topic]?.offset ?? events[topic]?.offset ?? 0 }

    public var encoded: String {
        let parts =
            commands.map { "\($0.key.rawValue)=\($0.value.offset)@\($0.value.time.milliseconds)" }
            + events.map { "\($0.key.rawValue)=\($0.value.encoded)" }
        return parts.count == 1 ? parts[0] : parts.sorted().joined(separator: ";")
    }

    public init?(encoded: some StringProtocol) {
        self.init()
        for part in encoded.split(separator: ";") {
            guard let equals = part.firstIndex(of: "="), let topic = Topic(rawValue: String(part[..<equals])) else { return nil }
            let value = part[part.index(after: equals)...]
            if let at = value.firstIndex(of: "@") {
                guard let offset = Int64(value[..<at]), let time = Int64(value[value.index(after: at)...]) else { return nil }
                commands[topic] = CommandPosition(offset: offset, time: Timestamp(milliseconds: time))
            } else {
                guard let position = ChainPosition(encoded: value) else { return nil }
                events[topic] = position
            }
        }
    }
}
