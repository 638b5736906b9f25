public import JSON

/// The right code was entered, and is consumed. Identity stamps what it proves, and answers.
public struct CodeConfirmed: Message {
    public static let type = MessageType.codeConfirmed

    public var subject: Subject
    public var purpose: Purpose
    public var channel: Channel
    /// The device that the code was issued to; `nil` for one that everybody may enter.
    public var device: Digest?

    public init(subject: Subject, purpose: Purpose, channel: Channel, device: Digest? = nil) {
        self.subject = subject
        self.purpose = purpose
        self.channel = channel
        self.device = device
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        purpose = try fields.choice("purpose")
        channel = try fields.choice("channel")
        device = try fields.optional("device") { Digest($0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "purpose": .string(purpose.rawValue),
            "channel": .string(channel.rawValue),
            "device": .text(device?.base64url),
        ]
    }
}
