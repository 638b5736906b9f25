public import JSON

/// A user came from another system.
public struct UserImported: Message {
    public static let type = MessageType.userImported

    public var subject: Subject
    public var channel: Channel
    public var user: UserSummary
    public var data: PersonalData
    public var disabled: Bool

    public init(subject: Subject, channel: Channel, user: UserSummary, data: PersonalData, disabled: Bool) {
        self.subject = subject
        self.channel = channel
        self.user = user
        self.data = data
        self.disabled = disabled
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        channel = try fields.choice("channel")
        user = try fields.object("user", UserSummary.init(fields:))
        data = try fields.object("data", PersonalData.init(fields:))
        disabled = try fields.bool("disabled")
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "channel": .string(channel.rawValue),
            "user": user.json,
            "data": data.json,
            "disabled": .bool(disabled),
        ]
    }
}
