public import JSON

/// An operator brings a user from another system.
public struct ImportUser: Message {
    public static let type = MessageType.importUser

    public var subject: Subject
    public var channel: Channel
    public var data: PersonalData
    /// In the other system; `nil` for now.
    public var createdAt: Timestamp?
    /// When the identifier was verified there.
    public var verifiedAt: Timestamp?
    public var groups: [String]
    public var disabled: Bool

    public init(
        subject: Subject, channel: Channel, data: PersonalData, createdAt: Timestamp? = nil, verifiedAt: Timestamp? = nil,
        groups: [String], disabled: Bool
    ) {
        self.subject = subject
        self.channel = channel
        self.data = data
        self.createdAt = createdAt
        self.verifiedAt = verifiedAt
        self.groups = groups
        self.disabled = disabled
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        channel = try fields.choice("channel")
        data = try fields.object("data", PersonalData.init(fields:))
        createdAt = try fields.optionalTime("createdAt")
        verifiedAt = try fields.optionalTime("verifiedAt")
        groups = try fields.list("groups") { $0.utf8.contains(0) ? nil : $0 }
        disabled = try fields.bool("disabled")
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "channel": .string(channel.rawValue),
            "data": data.json,
            "createdAt": .text(createdAt?.rfc3339),
            "verifiedAt": .text(verifiedAt?.rfc3339),
            "groups": .array(groups.map { .string($0) }),
            "disabled": .bool(disabled),
        ]
    }
}
