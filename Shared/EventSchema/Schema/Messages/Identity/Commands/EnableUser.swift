public import JSON

/// An operator lets a user in again.
public struct EnableUser: Message {
    public static let type = MessageType.enableUser

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
