public import JSON

/// The provider did not take the message.
public struct DeliveryFailed: Message {
    public static let type = MessageType.deliveryFailed

    /// Why, in words of our own: a provider's text may quote the recipient.
    public enum Reason: String, Sendable, CaseIterable {
        /// The provider could not be reached.
        case unreachable
        /// It did not answer in time, and did not begin to take the message.
        case timeout
        /// It answered that something is wrong on its side.
        case unavailable
        /// It asked to slow down.
        case rateLimited = "rate_limited"
        /// What the account with it allows for a day or month is used up.
        case quotaExceeded = "quota_exceeded"
        /// It does not accept the credentials.
        case unauthorized
        /// It refuses this recipient.
        case recipientRefused = "recipient_refused"
        /// It refuses this message.
        case messageRefused = "message_refused"
        /// The circuit breaker is open, and there is no other provider.
        case circuitOpen = "circuit_open"
        /// No provider is configured for the channel.
        case notConfigured = "not_configured"
    }

    /// The id of the event that asked for the send.
    public var send: MessageID
    /// 1 for the first.
    public var attempt: Int
    public var provider: String
    public var reason: Reason
    /// When it is tried again; `nil`: never, unless an operator asks for it.
    public var retryAt: Timestamp?

    public init(send: MessageID, attempt: Int, provider: String, reason: Reason, retryAt: Timestamp?) {
        self.send = send
        self.attempt = attempt
        self.provider = provider
        self.reason = reason
        self.retryAt = retryAt
    }

    public init(fields: Fields) throws(SchemaError) {
        send = try fields.value("send") { MessageID($0) }
        attempt = try fields.attempt()
        provider = try fields.string("provider")
        reason = try fields.choice("reason")
        retryAt = try fields.optionalTime("retryAt")
    }

    public var json: JSON {
        [
            "send": .string(send.text),
            "attempt": .integer(Int64(attempt)),
            "provider": .string(provider),
            "reason": .string(reason.rawValue),
            "retryAt": .text(retryAt?.rfc3339),
        ]
    }
}
