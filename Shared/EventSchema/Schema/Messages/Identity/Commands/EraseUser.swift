public import JSON

/// Asks to erase a user, with the verdict on the password.
public struct EraseUser: Message {
    public static let type = MessageType.eraseUser

    /// What the password was checked against.
    public var account: AccountReference
    /// The session that asks.
    public var session: SessionID
    public var verdict: PasswordVerdict

    public init(account: AccountReference, session: SessionID, verdict: PasswordVerdict) {
        self.account = account
        self.session = session
        self.verdict = verdict
    }

    public init(fields: Fields) throws(SchemaError) {
        account = try fields.object("account", AccountReference.init(fields:))
        session = try fields.value("session") { SessionID($0) }
        verdict = try fields.choice("verdict")
    }

    public var json: JSON {
        [
            "account": account.json,
            "session": .string(session.text),
            "verdict": .string(verdict.rawValue),
        ]
    }
}
