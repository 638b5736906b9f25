public import JSON

/// An operator asks the Notifier to try a send again that has failed for good.
public struct RetryDelivery: Message {
    public static let type = MessageType.retryDelivery

    /// The id of the event that asked for the send.
    public var send: MessageID

    public init(send: MessageID) { self.send = send }

    public init(fields: Fields) throws(SchemaError) { send = try fields.value("send") { MessageID($0) } }

    public var json: JSON { ["send": .string(send.text)] }
}
