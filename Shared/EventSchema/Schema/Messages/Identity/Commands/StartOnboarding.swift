public import JSON

/// Asks for an onboarding session.
public struct StartOnboarding: Message {
    public static let type = MessageType.startOnboarding

    public var subject: Subject
    public var channel: Channel
    public var data: PersonalData
    /// The command that confirmed the code of the same request; `nil` where there was none.
    public var confirmation: MessageID?
    /// Whether an account is owned up to only together with a code.
    public var proofRequired: Bool
    /// For the owner of the address, should there be an account that is not owned up to.
    public var notice: Notice?

    public init(
        subject: Subject, channel: Channel, data: PersonalData, confirmation: MessageID? = nil, proofRequired: Bool,
        notice: Notice? = nil
    ) {
        self.subject = subject
        self.channel = channel
        self.data = data
        self.confirmation = confirmation
        self.proofRequired = proofRequired
        self.notice = notice
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        channel = try fields.choice("channel")
        data = try fields.object("data", PersonalData.init(fields:))
        confirmation = try fields.optional("confirmation") { MessageID($0) }
        proofRequired = try fields.bool("proofRequired")
        notice = try fields.optionalObject("notice", Notice.init(fields:))
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "channel": .string(channel.rawValue),
            "data": data.json,
            "confirmation": .text(confirmation?.text),
            "proofRequired": .bool(proofRequired),
            "notice": notice?.json ?? .null,
        ]
    }
}
