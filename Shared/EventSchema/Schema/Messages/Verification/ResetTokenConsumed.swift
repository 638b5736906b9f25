public import Crypto
public import JSON

/// A live reset token was presented, and is consumed. Identity sets the password, and answers.
public struct ResetTokenConsumed: Message {
    public static let type = MessageType.resetTokenConsumed

    public var subject: Subject
    /// What the token was issued for.
    public var account: AccountReference
    /// The new password, sealed to Identity.
    public var password: Box

    public init(subject: Subject, account: AccountReference, password: Box) {
        self.subject = subject
        self.account = account
        self.password = password
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        account = try fields.object("account", AccountReference.init(fields:))
        password = try fields.value("password") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "account": account.json,
            "password": .string(password.encoded),
        ]
    }
}
