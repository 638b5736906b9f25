import JSON

/// What may stand readable of a user in an answer, as of one event.
public struct UserSummary: Hashable, Sendable {
    public var user: UserID
    public var createdAt: Timestamp
    public var emailVerifiedAt: Timestamp?
    public var phoneVerifiedAt: Timestamp?
    /// Sorted.
    public var groups: [String]

    public init(
        user: UserID, createdAt: Timestamp, emailVerifiedAt: Timestamp? = nil, phoneVerifiedAt: Timestamp? = nil, groups: [String]
    ) {
        self.user = user
        self.createdAt = createdAt
        self.emailVerifiedAt = emailVerifiedAt
        self.phoneVerifiedAt = phoneVerifiedAt
        self.groups = groups
    }

    init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        createdAt = try fields.time("createdAt")
        emailVerifiedAt = try fields.optionalTime("emailVerifiedAt")
        phoneVerifiedAt = try fields.optionalTime("phoneVerifiedAt")
        groups = try fields.list("groups") { $0.utf8.contains(0) ? nil : $0 }
    }

    var json: JSON {
        [
            "user": .string(user.text),
            "createdAt": .string(createdAt.rfc3339),
            "emailVerifiedAt": .text(emailVerifiedAt?.rfc3339),
            "phoneVerifiedAt": .text(phoneVerifiedAt?.rfc3339),
            "groups": .array(groups.map { .string($0) }),
        ]
    }
}
