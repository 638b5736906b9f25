public import JSON

/// The provider took the message.
public struct Delivered: Message {
    public static let type = MessageType.delivered

    /// The id of the event that asked for the send.
    public var send: MessageID
    /// 1 for the first.
    public var attempt: Int
    public var provider: String
    /// The provider's id of the message, where it gives one.
    public var providerID: String?

    public init(send: MessageID, attempt: Int, provider: String, providerID: String? = nil) {
        self.send = send
        self.attempt = attempt
        self.provider = provider
        self.providerID = providerID
    }

    public init(fields: Fields) throws(SchemaError) {
        send = try fields.value("send") { MessageID($0) }
        attempt = try fields.attempt()
        provider = try fields.string("provider")
        providerID = try fields.optionalString("providerID")
    }

    public var json: JSON {
        [
            "send": .string(send.text),
            "attempt": .integer(Int64(attempt)),
            "provider": .string(provider),
            "providerID": .text(providerID),
        ]
    }
}
