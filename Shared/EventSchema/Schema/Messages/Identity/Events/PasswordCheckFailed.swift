public import JSON

/// A user who is signed in gave a wrong password.
public struct PasswordCheckFailed: Message {
    public static let type = MessageType.passwordCheckFailed

    public var user: UserID
    public var session: SessionID
    public var use: PasswordUse
    /// In a row, with this one.
    public var failures: Int64
    /// Whether it was one too many, and ended the session.
    public var ended: Bool

    public init(user: UserID, session: SessionID, use: PasswordUse, failures: Int64, ended: Bool) {
        self.user = user
        self.session = session
        self.use = use
        self.failures = failures
        self.ended = ended
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        session = try fields.value("session") { SessionID($0) }
        use = try fields.choice("use")
        failures = try fields.integer("failures", in: 0...Int64.max)
        ended = try fields.bool("ended")
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "session": .string(session.text),
            "use": .string(use.rawValue),
            "failures": .integer(failures),
            "ended": .bool(ended),
        ]
    }
}
