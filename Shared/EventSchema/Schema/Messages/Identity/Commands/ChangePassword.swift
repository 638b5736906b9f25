public import JSON

/// Asks to put a password in the place of another, with the verdict on that.
public struct ChangePassword: Message {
    public static let type = MessageType.changePassword

    /// What the password was checked against.
    public var account: AccountReference
    /// The session that asks; it goes on.
    public var session: SessionID
    public var verdict: PasswordVerdict
    /// Of the new password, a PHC string; only with a right one.
    public var passwordHash: Ciphertext?

    public init(account: AccountReference, session: SessionID, verdict: PasswordVerdict, passwordHash: Ciphertext? = nil) {
        self.account = account
        self.session = session
        self.verdict = verdict
        self.passwordHash = passwordHash
    }

    public init(fields: Fields) throws(SchemaError) {
        account = try fields.object("account", AccountReference.init(fields:))
        session = try fields.value("session") { SessionID($0) }
        verdict = try fields.choice("verdict")
        passwordHash = try fields.optional("passwordHash") { Ciphertext($0) }
    }

    public var json: JSON {
        [
            "account": account.json,
            "session": .string(session.text),
            "verdict": .string(verdict.rawValue),
            "passwordHash": .text(passwordHash?.base64url),
        ]
    }
}
