public import JSON

/// A user belongs to other groups.
public struct GroupsChanged: Message {
    public static let type = MessageType.groupsChanged

    public var user: UserID
    /// Sorted.
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
