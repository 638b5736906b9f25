public import JSON

/// Asks to end one session.
public struct EndSession: Message {
    public static let type = MessageType.endSession

    public var session: SessionID
    /// Whose session it must be; `nil` where a refresh token of the session was presented.
    public var user: UserID?
    public var reason: SessionEndReason

    public init(session: SessionID, user: UserID? = nil, reason: SessionEndReason) {
        self.session = session
        self.user = user
        self.reason = reason
    }

    public init(fields: Fields) throws(SchemaError) {
        session = try fields.value("session") { SessionID($0) }
        user = try fields.optional("user") { UserID($0) }
        reason = try fields.choice("reason")
    }

    public var json: JSON {
        [
            "session": .string(session.text),
            "user": .text(user?.text),
            "reason": .string(reason.rawValue),
        ]
    }
}
