public import Crypto
public import JSON

/// Asks a check worker to hash and encrypt what somebody signs up with, and to pass it on.
public struct CheckSignUp: Message {
    public static let type = MessageType.checkSignUp

    public var subject: Subject
    public var channel: Channel
    public var kind: SignUpKind
    /// The canonical address or number, sealed to Identity.
    public var identifier: Box
    /// Sealed to Identity.
    public var password: Box
    /// A JSON object, sealed to Identity.
    public var profile: Box?
    /// The command that confirmed the code of the same request; `nil` where there was none.
    public var confirmation: MessageID?
    /// Whether an account is owned up to only together with a code (`SIGNUP_PROOF=required`).
    public var proofRequired: Bool
    /// The language of a notice; `nil` for the default.
    public var locale: LanguageTag?

    public init(
        subject: Subject, channel: Channel, kind: SignUpKind, identifier: Box, password: Box, profile: Box? = nil,
        confirmation: MessageID? = nil, proofRequired: Bool, locale: LanguageTag? = nil
    ) {
        self.subject = subject
        self.channel = channel
        self.kind = kind
        self.identifier = identifier
        self.password = password
        self.profile = profile
        self.confirmation = confirmation
        self.proofRequired = proofRequired
        self.locale = locale
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        channel = try fields.choice("channel")
        kind = try fields.choice("kind")
        identifier = try fields.value("identifier") { Box(encoded: $0) }
        password = try fields.value("password") { Box(encoded: $0) }
        profile = try fields.optional("profile") { Box(encoded: $0) }
        confirmation = try fields.optional("confirmation") { MessageID($0) }
        proofRequired = try fields.bool("proofRequired")
        locale = try fields.optional("locale") { LanguageTag($0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "channel": .string(channel.rawValue),
            "kind": .string(kind.rawValue),
            "identifier": .string(identifier.encoded),
            "password": .string(password.encoded),
            "profile": .text(profile?.encoded),
            "confirmation": .text(confirmation?.text),
            "proofRequired": .bool(proofRequired),
            "locale": .text(locale?.text),
        ]
    }
}
