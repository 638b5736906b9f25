public import JSON

/// Asks to set the password that a consumed reset token was presented with.
public struct FinishReset: Message {
    public static let type = MessageType.finishReset

    public var subject: Subject
    /// What the token was issued for.
    public var account: AccountReference
    /// A PHC string; `nil` where the account was gone, or the password cannot be read.
    public var passwordHash: Ciphertext?
    /// For the owner of the address.
    public var notice: Notice?

    public init(subject: Subject, account: AccountReference, passwordHash: Ciphertext? = nil, notice: Notice? = nil) {
        self.subject = subject
        self.account = account
        self.passwordHash = passwordHash
        self.notice = notice
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        account = try fields.object("account", AccountReference.init(fields:))
        passwordHash = try fields.optional("passwordHash") { Ciphertext($0) }
        notice = try fields.optionalObject("notice", Notice.init(fields:))
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "account": account.json,
            "passwordHash": .text(passwordHash?.base64url),
            "notice": notice?.json ?? .null,
        ]
    }
}
