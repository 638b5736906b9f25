internal import EventLog
public import EventSchema
internal import JSON

/// Asks every process whether it holds a MAC key: a record of the topic `keys`, which all of them follow.
public struct MACKeyQuestion: Hashable, Sendable {
    public var key: UInt32
    public var replyTo: ReplyAddress

    public init(key: UInt32, replyTo: ReplyAddress) {
        self.key = key
        self.replyTo = replyTo
    }

    init?(_ record: Record) {
        guard let json = try? JSON.parse(record.value), let key = json["key"]?.int64.flatMap({ UInt32(exactly: $0) }),
            let replyTo = record.header(HeaderName.replyTo).flatMap({ ReplyAddress(encoded: String(decoding: $0, as: UTF8.self)) }
            )
        else { return nil }
        self.init(key: key, replyTo: replyTo)
    }

    func record(by authenticator: RecordAuthenticator) -> OutgoingRecord {
        authenticator.sealed(
            .ofLog(
                LogRecordType.macKeyAsked, source: "/operator", in: KeyRecord.partition, key: [],
                headers: [Header(HeaderName.replyTo, replyTo.encoded)], value: MACKeyIntroduced(key: key).data))
    }
}

/// What one process replies.
struct MACKeyAnswer: Hashable, Sendable {
    var service: ServiceName
    var isHeld: Bool

    init(service: ServiceName, isHeld: Bool) {
        self.service = service
        self.isHeld = isHeld
    }

    init?(_ record: Record) {
        guard record.header(HeaderName.type) == Array(LogRecordType.macKeyAnswered.utf8),
            let json = try? JSON.parse(record.value), let isHeld = json["held"]?.bool,
            let service = json["service"]?.string.flatMap(ServiceName.init(rawValue:))
        else { return nil }
        self.init(service: service, isHeld: isHeld)
    }

    func record(to question: MACKeyQuestion, by authenticator: RecordAuthenticator) -> OutgoingRecord {
        authenticator.sealed(
            .ofLog(
                LogRecordType.macKeyAnswered, source: "/\(service.rawValue)",
                in: TopicPartition(.replies, Int(question.replyTo.partition)), key: question.replyTo.process,
                headers: [Header(HeaderName.replyTo, question.replyTo.encoded)],
                value: Array(#"{"service":"\#(service.rawValue)","held":\#(isHeld)}"#.utf8)))
    }
}
