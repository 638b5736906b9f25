public import JSON

/// Sessions are over.
public struct SessionsEnded: Message {
    public static let type = MessageType.sessionsEnded

    public var user: UserID
    public var sessions: [SessionID]
    public var reason: SessionEndReason

    public init(user: UserID, sessions: [SessionID], reason: SessionEndReason) {
        self.user = user
        self.sessions = sessions
        self.reason = reason
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        sessions = try fields.list("sessions") { SessionID($0) }
        reason = try fields.choice("reason")
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "sessions": .array(sessions.map { .string($0.text) }),
            "reason": .string(reason.rawValue),
        ]
    }
}
