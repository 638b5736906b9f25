public import Crypto
public import JSON

/// Asks Verification for a new code, which replaces the one before it.
public struct IssueCode: Message {
    public static let type = MessageType.issueCode

    public var subject: Subject
    public var purpose: Purpose
    public var channel: Channel
    /// The canonical address or number, sealed to the Notifier.
    public var recipient: Box
    /// The language of the message; `nil` for the default.
    public var locale: LanguageTag?
    /// The identifier has had its sends of the day: the command is counted and nothing is sent.
    public var overDailyLimit: Bool
    /// There is no (enabled) account to reset: everything happens as for one, except that no code ever matches.
    public var decoy: Bool
    /// Whose password is to be reset; only with that purpose, and not for a decoy.
    public var account: AccountReference?
    /// The digest of the account's device token, where a valid one was presented: its budgets are its own.
    public var device: Digest?

    public init(
        subject: Subject, purpose: Purpose, channel: Channel, recipient: Box, locale: LanguageTag? = nil,
        overDailyLimit: Bool = false, decoy: Bool = false, account: AccountReference? = nil, device: Digest? = nil
    ) {
        self.subject = subject
        self.purpose = purpose
        self.channel = channel
        self.recipient = recipient
        self.locale = locale
        self.overDailyLimit = overDailyLimit
        self.decoy = decoy
        self.account = account
        self.device = device
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        purpose = try fields.choice("purpose")
        channel = try fields.choice("channel")
        recipient = try fields.value("recipient") { Box(encoded: $0) }
        locale = try fields.optional("locale") { LanguageTag($0) }
        overDailyLimit = try fields.bool("overDailyLimit")
        decoy = try fields.bool("decoy")
        account = try fields.optionalObject("account", AccountReference.init(fields:))
        device = try fields.optional("device") { Digest($0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "purpose": .string(purpose.rawValue),
            "channel": .string(channel.rawValue),
            "recipient": .string(recipient.encoded),
            "locale": .text(locale?.text),
            "overDailyLimit": .bool(overDailyLimit),
            "decoy": .bool(decoy),
            "account": account?.json ?? .null,
            "device": .text(device?.base64url),
        ]
    }
}
