public import JSON

/// Asks a check worker for the live sessions of a user.
public struct ReadSessions: Message {
    public static let type = MessageType.readSessions

    public var user: UserID
    /// The session that asks.
    public var current: SessionID

    public init(user: UserID, current: SessionID) {
        self.user = user
        self.current = current
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        current = try fields.value("current") { SessionID($0) }
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "current": .string(current.text),
        ]
    }
}
