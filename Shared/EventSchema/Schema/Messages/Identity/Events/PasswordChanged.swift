public import JSON

/// A user has put a password in the place of another.
public struct PasswordChanged: Message {
    public static let type = MessageType.passwordChanged

    /// With the version from now on.
    public var account: AccountReference
    /// The session that goes on.
    public var session: SessionID
    /// A PHC string.
    public var passwordHash: Ciphertext
    /// The sessions that ended with it.
    public var ended: [SessionID]

    public init(account: AccountReference, session: SessionID, passwordHash: Ciphertext, ended: [SessionID]) {
        self.account = account
        self.session = session
        self.passwordHash = passwordHash
        self.ended = ended
    }

    public init(fields: Fields) throws(SchemaError) {
        account = try fields.object("account", AccountReference.init(fields:))
        session = try fields.value("session") { SessionID($0) }
        passwordHash = try fields.value("passwordHash") { Ciphertext($0) }
        ended = try fields.list("ended") { SessionID($0) }
    }

    public var json: JSON {
        [
            "account": account.json,
            "session": .string(session.text),
            "passwordHash": .string(passwordHash.base64url),
            "ended": .array(ended.map { .string($0.text) }),
        ]
    }
}
