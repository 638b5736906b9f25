public import JSON

/// An operator says which groups a user belongs to.
public struct SetGroups: Message {
    public static let type = MessageType.setGroups

    public var user: UserID
    public var groups: [String]

    public init(user: UserID, groups: [String]) {
        self.user = user
        self.groups = groups
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        groups = try fields.list("groups") { $0.utf8.contains(0) ? nil : $0 }
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "groups": .array(groups.map { .string($0) }),
        ]
    }
}
