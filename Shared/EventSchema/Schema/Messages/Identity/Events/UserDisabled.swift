public import JSON

/// A user is shut out.
public struct UserDisabled: Message {
    public static let type = MessageType.userDisabled

    public var user: UserID
    /// The sessions that ended with it.
    public var ended: [SessionID]

    public init(user: UserID, ended: [SessionID]) {
        self.user = user
        self.ended = ended
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        ended = try fields.list("ended") { SessionID($0) }
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "ended": .array(ended.map { .string($0.text) }),
        ]
    }
}
