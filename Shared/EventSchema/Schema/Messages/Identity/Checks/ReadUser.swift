public import JSON

/// Asks a check worker for what a user may see of themselves.
public struct ReadUser: Message {
    public static let type = MessageType.readUser

    public var user: UserID

    public init(user: UserID) {
        self.user = user
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
    }

    public var json: JSON {
        [
            "user": .string(user.text)
        ]
    }
}
