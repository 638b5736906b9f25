public import Crypto
public import JSON

/// There is a new code; the one before it is void. The Notifier sends it, unless it is a decoy's.
public struct CodeIssued: Message {
    public static let type = MessageType.codeIssued

    public var subject: Subject
    public var purpose: Purpose
    public var channel: Channel
    /// SHA-256 of the code's HMAC-SHA256 under Verification's key, and of the salt behind it; `nil` for a decoy, which no code
    /// matches.
    public var digest: Digest?
    /// 16 random bytes of this one code, so that it cannot be seen when the same code is drawn again; `nil` for a decoy.
    public var salt: [UInt8]?
    /// When the code ends to be good, and sending it ends to make sense.
    public var expiresAt: Timestamp
    /// The canonical address or number, sealed to the Notifier; `nil` for a decoy.
    public var recipient: Box?
    /// The code, sealed to the Notifier; `nil` for a decoy.
    public var code: Box?
    /// The language of the message; `nil` for the default.
    public var locale: LanguageTag?
    public var decoy: Bool
    /// Whose password is to be reset.
    public var account: AccountReference?
    /// The device whose budget the send was counted in; `nil` for everybody's.
    public var device: Digest?

    public init(
        subject: Subject, purpose: Purpose, channel: Channel, digest: Digest?, salt: [UInt8]? = nil, expiresAt: Timestamp,
        recipient: Box?, code: Box?, locale: LanguageTag? = nil, decoy: Bool = false, account: AccountReference? = nil,
        device: Digest? = nil
    ) {
        self.subject = subject
        self.purpose = purpose
        self.channel = channel
        self.digest = digest
        self.salt = salt
        self.expiresAt = expiresAt
        self.recipient = recipient
        self.code = code
        self.locale = locale
        self.decoy = decoy
        self.account = account
        self.device = device
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        purpose = try fields.choice("purpose")
        channel = try fields.choice("channel")
        digest = try fields.optional("digest") { Digest($0) }
        salt = try fields.optional("salt") { text in Base64URL.decode(text).flatMap { $0.count == 16 ? $0 : nil } }
        expiresAt = try fields.time("expiresAt")
        recipient = try fields.optional("recipient") { Box(encoded: $0) }
        code = try fields.optional("code") { Box(encoded: $0) }
        locale = try fields.optional("locale") { LanguageTag($0) }
        decoy = try fields.bool("decoy")
        account = try fields.optionalObject("account", AccountReference.init(fields:))
        device = try fields.optional("device") { Digest($0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "purpose": .string(purpose.rawValue),
            "channel": .string(channel.rawValue),
            "digest": .text(digest?.base64url),
            "salt": .text(salt.map { Base64URL.encode($0) }),
            "expiresAt": .string(expiresAt.rfc3339),
            "recipient": .text(recipient?.encoded),
            "code": .text(code?.encoded),
            "locale": .text(locale?.text),
            "decoy": .bool(decoy),
            "account": account?.json ?? .null,
            "device": .text(device?.base64url),
        ]
    }
}
