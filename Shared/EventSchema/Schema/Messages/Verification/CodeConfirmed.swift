public import JSON

/// The right code was entered, and is consumed. Identity stamps what it proves, and answers.
public struct CodeConfirmed: Message {
    public static let type = MessageType.codeConfirmed

    public var subject: Subject
    public var purpose: Purpose
    public var channel: Channel

    public init(subject: Subject, purpose: Purpose, channel: Channel) {
        self.subject = subject
        self.purpose = purpose
        self.channel = channel
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        purpose = try fields.choice("purpose")
        channel = try fields.choice("channel")
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "purpose": .string(purpose.rawValue),
            "channel": .string(channel.rawValue),
        ]
    }
}
