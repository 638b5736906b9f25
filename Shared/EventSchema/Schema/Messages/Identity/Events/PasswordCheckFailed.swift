public import JSON

/// A user who is signed in gave a wrong password.
public struct PasswordCheckFailed: Message {
    public static let type = MessageType.passwordCheckFailed

    public var user: UserID
    public var session: SessionID
    public var use: PasswordUse
    /// Whether it was one too many in a row, and ended the session.
    public var ended: Bool

    public init(user: UserID, session: SessionID, use: PasswordUse, ended: Bool) {
        self.user = user
        self.session = session
        self.use = use
        self.ended = ended
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        session = try fields.value("session") { SessionID($0) }
        use = try fields.choice("use")
        ended = try fields.bool("ended")
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "session": .string(session.text),
            "use": .string(use.rawValue),
            "ended": .bool(ended),
        ]
    }
}
