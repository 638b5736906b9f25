public import JSON

/// A wrong code was entered while a code was live. It counts against that code and against the budget of the hour.
public struct CodeMissed: Message {
    public static let type = MessageType.codeMissed

    public var subject: Subject
    public var purpose: Purpose
    /// The device whose budget the wrong code was counted in; `nil` for everybody's.
    public var device: Digest?

    public init(subject: Subject, purpose: Purpose, device: Digest? = nil) {
        self.subject = subject
        self.purpose = purpose
        self.device = device
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        purpose = try fields.choice("purpose")
        device = try fields.optional("device") { Digest($0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "purpose": .string(purpose.rawValue),
            "device": .text(device?.base64url),
        ]
    }
}
