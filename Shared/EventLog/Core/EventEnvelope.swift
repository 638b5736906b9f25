internal import Crypto
public import EventSchema

/// A command that was refused and led to no event. The next event names it, so that the same command is not decided
/// otherwise when it comes again.
public struct RefusedCommand: Hashable, Sendable {
    public var id: MessageID
    /// The refusal's code; `nil` when the command was dropped because its budget was over.
    public var code: String?
    /// Tells copies of one record from other records with the same id.
    public var fingerprint: [UInt8]
    /// For how long the command may come again.
    public var remember: Interval

    public init(id: MessageID, code: String?, fingerprint: [UInt8], remember: Interval) {
        self.id = id
        self.code = code
        self.fingerprint = fingerprint
        self.remember = remember
    }
}

/// An event that was made here, as it will be read back.
struct MadeEvent: Sendable {
    var record: OutgoingRecord
    var hash: [UInt8]
    /// The MAC key that it was written under.
    var macKey: UInt32
    var envelope: EventEnvelope
}

/// A valid event and its place in the log, without what its type makes of the data.
public struct EventEnvelope: Hashable, Sendable {
    public var partition: TopicPartition
    public var offset: Int64
    /// When the log appended it.
    public var appended: Timestamp
    public var key: [UInt8]

    public var id: MessageID
    public var body: EventBody
    /// The time of the decision.
    public var time: Timestamp
    public var sequence: Int64
    public var previous: [UInt8]
    public var inboxes: InboxPositions
    public var writer: String
    public var speculation: UInt64
    /// The command or event that led to it.
    public var causation: MessageID?
    public var traceParent: String?
    public var replyTo: ReplyAddress?
    public var deadline: Timestamp?
    public var remember: Interval
    public var refused: [RefusedCommand]
    /// Why an operator has had it skipped: it is an event of the chain, and nobody makes anything of what it says.
    public var skipped: String?
}

extension EventEnvelope {
    /// Whether it says nothing to a domain: the log itself wrote it, or it is skipped.
    public var saysNothing: Bool { LogRecordType.amongEvents.contains(body.type) || skipped != nil }

    /// Reads the headers of an event. `nil` when it is not one that Latchkey's writers write.
    init?(_ record: Record) {
        var headers = HeaderWalk(record.headers)
        _ = headers.next(HeaderName.specVersion)
        let id = headers.next(HeaderName.id).flatMap { MessageID(ascii: $0) }
        let type = headers.text(HeaderName.type)
        _ = headers.next(HeaderName.source)
        let time = headers.next(HeaderName.time).flatMap { Timestamp(rfc3339: $0) }
        let subject = headers.text(HeaderName.subject)
        _ = headers.next(HeaderName.contentType)
        let sequence = headers.next(HeaderName.sequence).flatMap { Int64(decimal: $0) }
        let previous = headers.next(HeaderName.previous).flatMap { Base64URL.decode($0) }
        let inboxes = InboxPositions(encoded: headers.text(HeaderName.inboxes) ?? "")
        let writer = headers.text(HeaderName.writer)
        let speculation = headers.next(HeaderName.speculation).flatMap { UInt64(decimal: $0) }
        causation = headers.next(HeaderName.causation).flatMap { MessageID(ascii: $0) }
        traceParent = headers.text(HeaderName.traceParent)
        replyTo = headers.next(HeaderName.replyTo).flatMap { ReplyAddress(encoded: $0) }
        deadline = headers.next(HeaderName.deadline).flatMap { Int64(decimal: $0) }.map(Timestamp.init(milliseconds:))
        remember = headers.next(HeaderName.remember).flatMap { Int64(decimal: $0) }.map(Interval.init(milliseconds:)) ?? .zero
        let refused = Self.refused(headers.text(HeaderName.refused) ?? "")
        _ = headers.next(HeaderName.macKey)
        _ = headers.next(HeaderName.mac)
        guard let id, let type, let time, let sequence, let previous, let inboxes, let writer, let speculation, let refused,
            headers.isAtEnd || record.namesHeadersOnce
        else { return nil }
        partition = record.partition
        offset = record.offset
        appended = record.time
        key = record.key
        self.id = id
        body = EventBody(type: type, subject: subject, data: record.value)
        self.time = time
        self.sequence = sequence
        self.previous = previous
        self.inboxes = inboxes
        self.writer = writer
        self.speculation = speculation
        self.refused = refused
    }

    private static func refused(_ text: String) -> [RefusedCommand]? {
        if text.isEmpty { return [] }
        var refused: [RefusedCommand] = []
        for entry in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = entry.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 4, let id = MessageID(String(parts[0])), let fingerprint = Base64URL.decode(String(parts[2])),
                let remember = Int64(decimal: parts[3].utf8)
            else { return nil }
            refused.append(
                RefusedCommand(
                    id: id, code: parts[1].isEmpty ? nil : String(parts[1]), fingerprint: fingerprint,
                    remember: .milliseconds(remember)))
        }
        return refused
    }
}

/// Finds headers that are asked for in the order in which they are written, without looking through all of them each time.
private struct HeaderWalk {
    private let headers: [Header]
    private var place = 0
    private var found = 0

    init(_ headers: [Header]) { self.headers = headers }

    /// The first header of this name. Each name is asked for once.
    mutating func next(_ name: String) -> [UInt8]? {
        if place == headers.count || headers[place].name != name {
            guard let index = headers.firstIndex(where: { $0.name == name }) else { return nil }
            place = index
        }
        defer { place += 1 }
        found += 1
        return headers[place].value
    }

    mutating func text(_ name: String) -> String? { next(name).map { String(decoding: $0, as: UTF8.self) } }

    /// Whether there is no other header than those that were found, and so none that comes twice.
    var isAtEnd: Bool { found == headers.count }
}

extension Record {
    /// Whether no header but the MAC comes twice. There are a score of them, with short names: looking is faster than hashing.
    fileprivate var namesHeadersOnce: Bool {
        for index in headers.indices where headers[index].name != HeaderName.mac {
            for earlier in headers[..<index] where earlier.name == headers[index].name { return false }
        }
        return true
    }
}

/// An event on its way into the chain.
struct EventDraft {
    var id: MessageID
    var body: EventBody
    var key: [UInt8]
    var time: Timestamp
    var inboxes: InboxPositions
    var writer: String
    var service: ServiceName
    var speculation: UInt64
    var causation: MessageID?
    var traceParent: String?
    var replyTo: ReplyAddress?
    var deadline: Timestamp?
    var remember: Interval
    var refused: [RefusedCommand]

    /// What a reader makes of the record that follows `head`, but for where and when it was appended.
    func envelope(after head: ChainHead, in partition: TopicPartition) -> EventEnvelope {
        EventEnvelope(
            partition: partition, offset: -1, appended: Timestamp(milliseconds: 0), key: key, id: id, body: body, time: time,
            sequence: head.sequence + 1, previous: head.hash, inboxes: inboxes, writer: writer, speculation: speculation,
            causation: causation, traceParent: traceParent, replyTo: replyTo, deadline: deadline, remember: max(remember, .zero),
            refused: refused, skipped: nil)
    }

    /// The record that follows `head`, authenticated under the chain's key.
    func record(after head: ChainHead, in partition: TopicPartition, by authenticator: RecordAuthenticator) -> OutgoingRecord {
        var headers: [Header] = []
        headers.reserveCapacity(22)
        headers.append(Header(HeaderName.specVersion, "1.0"))
        headers.append(Header(HeaderName.id, id.text))
        headers.append(Header(HeaderName.type, body.type))
        headers.append(Header(HeaderName.source, "/\(service.rawValue)"))
        headers.append(Header(HeaderName.time, time.rfc3339))
        if let subject = body.subject { headers.append(Header(HeaderName.subject, subject)) }
        headers.append(Header(HeaderName.contentType, "application/json"))
        headers.append(Header(HeaderName.sequence, String(head.sequence + 1)))
        headers.append(Header(HeaderName.previous, Base64URL.encode(head.hash)))
        headers.append(Header(HeaderName.inboxes, inboxes.encoded))
        headers.append(Header(HeaderName.writer, writer))
        headers.append(Header(HeaderName.speculation, String(speculation)))
        if let causation { headers.append(Header(HeaderName.causation, causation.text)) }
        if let traceParent { headers.append(Header(HeaderName.traceParent, traceParent)) }
        if let replyTo { headers.append(Header(HeaderName.replyTo, replyTo.encoded)) }
        if let deadline { headers.append(Header(HeaderName.deadline, String(deadline.milliseconds))) }
        if remember > .zero { headers.append(Header(HeaderName.remember, String(remember.milliseconds))) }
        if !refused.isEmpty {
            let entries = refused.map {
                "\($0.id.text):\($0.code ?? ""):\(Base64URL.encode($0.fingerprint)):\($0.remember.milliseconds)"
            }
            headers.append(Header(HeaderName.refused, entries.joined(separator: ",")))
        }
        return authenticator.sealed(
            OutgoingRecord(partition: partition, key: key, headers: headers, value: body.data), under: head.key)
    }
}
