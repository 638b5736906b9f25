public import Crypto
public import JSON

/// The Notifier is about to give a send to a provider. It carries what another attempt needs, so that the open sends are a
/// projection of the Notifier's own log.
public struct DeliveryAttempted: Message {
    public static let type = MessageType.deliveryAttempted

    /// The id of the event that asked for the send.
    public var send: MessageID
    /// Whom it goes to, as a pseudonym; the boxes are bound to it.
    public var subject: Subject
    /// 1 for the first.
    public var attempt: Int
    /// The configured provider's name, `console` for example.
    public var provider: String
    public var purpose: Occasion
    public var channel: Channel
    /// When the send was asked for. What the message says of its lifetime counts from here, so that all attempts say the same.
    public var requestedAt: Timestamp
    /// From then on nothing is sent.
    public var expiresAt: Timestamp
    /// The canonical address or number, sealed to the Notifier.
    public var recipient: Box?
    /// The code, sealed to the Notifier; `nil` for a message without one.
    public var code: Box?
    /// The language of the message; `nil` for the default.
    public var locale: LanguageTag?

    public init(
        send: MessageID, subject: Subject, attempt: Int, provider: String, purpose: Occasion, channel: Channel,
        requestedAt: Timestamp, expiresAt: Timestamp, recipient: Box?, code: Box?, locale: LanguageTag? = nil
    ) {
        self.send = send
        self.subject = subject
        self.attempt = attempt
        self.provider = provider
        self.purpose = purpose
        self.channel = channel
        self.requestedAt = requestedAt
        self.expiresAt = expiresAt
        self.recipient = recipient
        self.code = code
        self.locale = locale
    }

    public init(fields: Fields) throws(SchemaError) {
        send = try fields.value("send") { MessageID($0) }
        subject = try fields.value("subject") { Subject($0) }
        attempt = try fields.attempt()
        provider = try fields.string("provider")
        purpose = try fields.choice("purpose")
        channel = try fields.choice("channel")
        requestedAt = try fields.time("requestedAt")
        expiresAt = try fields.time("expiresAt")
        recipient = try fields.optional("recipient") { Box(encoded: $0) }
        code = try fields.optional("code") { Box(encoded: $0) }
        locale = try fields.optional("locale") { LanguageTag($0) }
    }

    public var json: JSON {
        [
            "send": .string(send.text),
            "subject": .string(subject.base64url),
            "attempt": .integer(Int64(attempt)),
            "provider": .string(provider),
            "purpose": .string(purpose.rawValue),
            "channel": .string(channel.rawValue),
            "requestedAt": .string(requestedAt.rfc3339),
            "expiresAt": .string(expiresAt.rfc3339),
            "recipient": .text(recipient?.encoded),
            "code": .text(code?.encoded),
            "locale": .text(locale?.text),
        ]
    }
}

extension Fields {
    /// The number of an attempt: 1 or more, within 32 bits.
    func attempt() throws(SchemaError) -> Int { Int(try integer("attempt", in: 1...Int64(Int32.max))) }
}
