public import JSON

/// The code's time was over before the message was sent, or what was sealed can no longer be opened: it is not sent.
public struct DeliveryExpired: Message {
    public static let type = MessageType.deliveryExpired

    /// The id of the event that asked for the send.
    public var send: MessageID

    public init(send: MessageID) { self.send = send }

    public init(fields: Fields) throws(SchemaError) { send = try fields.value("send") { MessageID($0) } }

    public var json: JSON { ["send": .string(send.text)] }
}
