public import JSON

/// Asks to end every session of a user.
public struct EndAllSessions: Message {
    public static let type = MessageType.endAllSessions

    public var user: UserID
    public var reason: SessionEndReason

    public init(user: UserID, reason: SessionEndReason) {
        self.user = user
        self.reason = reason
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        reason = try fields.choice("reason")
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "reason": .string(reason.rawValue),
        ]
    }
}
