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
        var rest = Substring(encoded).utf8
        guard let offset = Int64(Substring(rest.removeFirst(upTo: "/"))),
            let headOffset = Int64(Substring(rest.removeFirst(upTo: "/"))),
            let sequence = Int64(Substring(rest.removeFirst(upTo: "/"))),
            let key = UInt32(Substring(rest.removeFirst(upTo: "/"))),
            let hash = Base64URL.decode(String(Substring(rest))), hash.count == 32,
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
        var rest = Substring(encoded).utf8
        while !rest.isEmpty {
            var value = rest.removeFirst(upTo: ";")
            if value.isEmpty { continue }
            guard let topic = Topic(rawValue: String(Substring(value.removeFirst(upTo: "=")))) else { return nil }
            if value.contains(UInt8(ascii: "@")) {
                guard let offset = Int64(Substring(value.removeFirst(upTo: "@"))), let time = Int64(Substring(value)) else {
                    return nil
                }
                commands[topic] = CommandPosition(offset: offset, time: Timestamp(milliseconds: time))
            } else {
                guard let position = ChainPosition(encoded: Substring(value)) else { return nil }
                events[topic] = position
            }
        }
    }
}

extension Substring.UTF8View {
    /// Takes what stands before the first separator, or everything, and the separator. Bytes, because whole characters are
    /// far more expensive to find, and every event that is read names positions.
    fileprivate mutating func removeFirst(upTo separator: Unicode.Scalar) -> Substring.UTF8View {
        let end = firstIndex(of: UInt8(ascii: separator)) ?? endIndex
        defer { self = end == endIndex ? self[end...] : self[index(after: end)...] }
        return self[..<end]
    }
}
