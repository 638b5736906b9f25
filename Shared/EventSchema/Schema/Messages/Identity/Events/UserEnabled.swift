public import JSON

/// A user is let in again.
public struct UserEnabled: Message {
    public static let type = MessageType.userEnabled

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
