public import EventSchema
internal import JSON

/// The content of `latchkey.log.skipped.v1`: every reader passes an event over, for good, whether or not it could read it.
///
/// In a chain it is the decision itself, and names an event of the same chain, before it. In the topic `keys`, where it stands
/// after that, it tells whoever begins to read, before the event comes.
public struct SkippedEvent: Hashable, Sendable {
    public var partition: TopicPartition
    public var offset: Int64
    /// An operator's words.
    public var reason: String

    public init(_ partition: TopicPartition, offset: Int64, reason: String) {
        self.partition = partition
        self.offset = offset
        self.reason = reason
    }

    /// `nil` where the event is of another type, or names none before it.
    public init?(_ event: EventEnvelope) {
        guard event.body.type == LogRecordType.skipped, let json = try? JSON.parse(event.body.data),
            let offset = json["offset"]?.int64, let reason = json["reason"]?.string, offset < event.offset
        else { return nil }
        self.init(event.partition, offset: offset, reason: reason)
    }

    /// As it stands in the topic `keys`.
    public init?(announcedIn record: Record) {
        guard let json = try? JSON.parse(record.value), let offset = json["offset"]?.int64, let reason = json["reason"]?.string,
            let topic = json["topic"]?.string.flatMap({ Topic(rawValue: $0) }), let partition = json["partition"]?.int64
        else { return nil }
        self.init(TopicPartition(topic, Int(partition)), offset: offset, reason: reason)
    }

    /// For the chain.
    public var body: EventBody {
        let json: JSON = ["offset": .integer(offset), "reason": .string(reason)]
        return EventBody(type: LogRecordType.skipped, subject: nil, data: json.serialized())
    }

    /// For the topic `keys`.
    public func announcement(by authenticator: RecordAuthenticator) -> OutgoingRecord {
        let json: JSON = [
            "topic": .string(partition.topic.rawValue), "partition": .integer(Int64(partition.partition)),
            "offset": .integer(offset), "reason": .string(reason),
        ]
        return authenticator.sealed(
            .ofLog(LogRecordType.skipped, source: "/operator", in: MACKeyHistory.partition, key: [], value: json.serialized()))
    }

    var place: EventPlace { EventPlace(partition, offset) }
}
