public import JSON

/// An operator shuts a user out.
public struct DisableUser: Message {
    public static let type = MessageType.disableUser

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
