public import EventSchema

/// Takes messages to people, through a service outside or to the console. Everything here blocks, and is called on threads
/// that belong to the provider.
public protocol Provider: Sendable {
    /// As it stands in events: `console`.
    var name: String { get }

    /// Whether a message that is handed over again under the same id reaches its recipient once.
    var removesDoubles: Bool { get }

    /// How many messages one call takes.
    var batchSize: Int { get }

    /// How many calls may run at once.
    var concurrency: Int { get }

    /// Hands messages over, and says of each what became of it, in their order.
    func deliver(_ messages: [OutgoingMessage]) -> [ProviderResult]

    /// Whether a message was taken that somebody tried to hand over after `since`; `nil` where that cannot be told.
    func hasTaken(_ id: MessageID, since: Timestamp) -> Bool?

    /// Gives up what is kept for the next message. Nothing is handed over any more.
    func close()
}

extension Provider {
    public func hasTaken(_ id: MessageID, since: Timestamp) -> Bool? { nil }
    public func close() {}
}

public enum ProviderResult: Equatable, Sendable {
    /// The provider took it, under its own id if it gives one.
    case delivered(providerID: String?)
    /// It certainly did not take it. `retryAfter` is what it asked for.
    case failed(DeliveryFailed.Reason, retryAfter: Interval? = nil)
    /// Nobody can tell whether it took it.
    case unknown
}

/// A message as its recipient gets it.
public struct OutgoingMessage: Equatable, Sendable, CustomStringConvertible {
    /// The send's: the same for every attempt.
    public var id: MessageID
    public var channel: Channel
    /// The canonical address or number.
    public var recipient: String
    public var purpose: Occasion
    public var locale: LanguageTag
    /// Of an e-mail.
    public var subject: String?
    public var text: String
    /// The same for programs that show HTML.
    public var html: String?
    public var code: String?
    /// When the message was asked for.
    public var requestedAt: Timestamp
    /// From then on it is of no use.
    public var expiresAt: Timestamp
    /// When it is handed over.
    public var time: Timestamp

    public init(
        id: MessageID, channel: Channel, recipient: String, purpose: Occasion, locale: LanguageTag, subject: String?,
        text: String,
        html: String? = nil, code: String?, requestedAt: Timestamp, expiresAt: Timestamp, time: Timestamp
    ) {
        self.id = id
        self.channel = channel
        self.recipient = recipient
        self.purpose = purpose
        self.locale = locale
        self.subject = subject
        self.text = text
        self.html = html
        self.code = code
        self.requestedAt = requestedAt
        self.expiresAt = expiresAt
        self.time = time
    }

    /// Nothing of what it says, and not to whom.
    public var description: String { "message \(id)" }
}
