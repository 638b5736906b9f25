internal import EventSchema
internal import JSON

/// The content of `latchkey.log.skipped.v1`: every reader passes the event at this offset of the same chain over.
public struct SkippedEvent: Hashable, Sendable {
    public var offset: Int64
    /// An operator's words.
    public var reason: String

    public init(offset: Int64, reason: String) {
        self.offset = offset
        self.reason = reason
    }

    /// `nil` where the event is of another type.
    public init?(_ body: EventBody) {
        guard body.type == LogRecordType.skipped, let json = try? JSON.parse(body.data), let offset = json["offset"]?.int64,
            let reason = json["reason"]?.string
        else { return nil }
        self.init(offset: offset, reason: reason)
    }

    public var body: EventBody {
        let json: JSON = ["offset": .integer(offset), "reason": .string(reason)]
        return EventBody(type: LogRecordType.skipped, subject: nil, data: json.serialized())
    }
}
