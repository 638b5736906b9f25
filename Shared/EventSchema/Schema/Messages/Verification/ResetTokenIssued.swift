public import Crypto
public import JSON

/// The right code for a reset was entered: it is consumed, and there is a reset token for it. The one before it is void.
public struct ResetTokenIssued: Message {
    public static let type = MessageType.resetTokenIssued

    public var subject: Subject
    /// Whose password may be reset, and of which version.
    public var account: AccountReference
    /// SHA-256 of the token.
    public var digest: Digest
    public var expiresAt: Timestamp
    /// The device that the code was issued to; `nil` for one that everybody may enter.
    public var device: Digest?
    /// The token, sealed to the waiting gateway process; `nil` where nobody waits.
    public var reply: Box?

    public init(
        subject: Subject, account: AccountReference, digest: Digest, expiresAt: Timestamp, device: Digest? = nil,
        reply: Box? = nil
    ) {
        self.subject = subject
        self.account = account
        self.digest = digest
        self.expiresAt = expiresAt
        self.device = device
        self.reply = reply
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        account = try fields.object("account", AccountReference.init(fields:))
        digest = try fields.value("digest") { Digest($0) }
        expiresAt = try fields.time("expiresAt")
        device = try fields.optional("device") { Digest($0) }
        reply = try fields.optional("reply") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "account": account.json,
            "digest": .string(digest.base64url),
            "expiresAt": .string(expiresAt.rfc3339),
            "device": .text(device?.base64url),
            "reply": .text(reply?.encoded),
        ]
    }
}
