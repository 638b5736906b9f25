public import Crypto
public import JSON

/// Asks Verification whether a code is the right one; if so, it is consumed.
public struct ConfirmCode: Message {
    public static let type = MessageType.confirmCode

    public var subject: Subject
    public var purpose: Purpose
    /// The six digits that were entered, sealed to Verification.
    public var code: Box
    /// The digest of the account's device token, where a valid one was presented: its budgets are its own.
    public var device: Digest?

    public init(subject: Subject, purpose: Purpose, code: Box, device: Digest? = nil) {
        self.subject = subject
        self.purpose = purpose
        self.code = code
        self.device = device
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        purpose = try fields.choice("purpose")
        code = try fields.value("code") { Box(encoded: $0) }
        device = try fields.optional("device") { Digest($0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "purpose": .string(purpose.rawValue),
            "code": .string(code.encoded),
            "device": .text(device?.base64url),
        ]
    }
}
