public import JSON

/// A password was set with a reset token: the mailbox is proven, every session is over.
public struct PasswordReset: Message {
    public static let type = MessageType.passwordReset

    public var subject: Subject
    /// With the version from now on.
    public var account: AccountReference
    /// A PHC string.
    public var passwordHash: Ciphertext
    /// The stamp, where there was none.
    public var verifiedAt: Timestamp?
    /// The sessions that ended with it.
    public var ended: [SessionID]
    /// What was attached while nobody had proven the credential.
    public var droppedDevices: [Digest]
    /// To be sent.
    public var notice: Notice?

    public init(
        subject: Subject, account: AccountReference, passwordHash: Ciphertext, verifiedAt: Timestamp? = nil, ended: [SessionID],
        droppedDevices: [Digest], notice: Notice? = nil
    ) {
        self.subject = subject
        self.account = account
        self.passwordHash = passwordHash
        self.verifiedAt = verifiedAt
        self.ended = ended
        self.droppedDevices = droppedDevices
        self.notice = notice
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        account = try fields.object("account", AccountReference.init(fields:))
        passwordHash = try fields.value("passwordHash") { Ciphertext($0) }
        verifiedAt = try fields.optionalTime("verifiedAt")
        ended = try fields.list("ended") { SessionID($0) }
        droppedDevices = try fields.list("droppedDevices") { Digest($0) }
        notice = try fields.optionalObject("notice", Notice.init(fields:))
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "account": account.json,
            "passwordHash": .string(passwordHash.base64url),
            "verifiedAt": .text(verifiedAt?.rfc3339),
            "ended": .array(ended.map { .string($0.text) }),
            "droppedDevices": .array(droppedDevices.map { .string($0.base64url) }),
            "notice": notice?.json ?? .null,
        ]
    }
}
