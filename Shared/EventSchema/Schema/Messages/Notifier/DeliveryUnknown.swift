public import JSON

/// Whether the provider took the message cannot be known, and it does not remove doubles: it is not sent again.
public struct DeliveryUnknown: Message {
    public static let type = MessageType.deliveryUnknown

    /// The id of the event that asked for the send.
    public var send: MessageID
    /// 1 for the first.
    public var attempt: Int
    public var provider: String

    public init(send: MessageID, attempt: Int, provider: String) {
        self.send = send
        self.attempt = attempt
        self.provider = provider
    }

    public init(fields: Fields) throws(SchemaError) {
        send = try fields.value("send") { MessageID($0) }
        attempt = try fields.attempt()
        provider = try fields.string("provider")
    }

    public var json: JSON {
        [
            "send": .string(send.text),
            "attempt": .integer(Int64(attempt)),
            "provider": .string(provider),
        ]
    }
}
