public import JSON

/// Asks to end every session of a user.
public struct EndAllSessions: Message {
    public static let type = MessageType.endAllSessions

    public var user: UserID
    /// The session that asks: one that has ended may not. `nil` where none does.
    public var session: SessionID?
    public var reason: SessionEndReason

    public init(user: UserID, session: SessionID? = nil, reason: SessionEndReason) {
        self.user = user
        self.session = session
        self.reason = reason
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        session = try fields.optional("session") { SessionID($0) }
        reason = try fields.choice("reason")
    }

    public var json: JSON {
        var fields: JSONObject = ["user": .string(user.text), "reason": .string(reason.rawValue)]
        // It came later than the type.
        if let session { fields["session"] = .string(session.text) }
        return .object(fields)
    }
}
