public import Crypto
public import JSON

/// Asks a check worker whether a password is right. The work is the same for identifiers without an account.
public struct CheckLogin: Message {
    public static let type = MessageType.checkLogin

    public var subject: Subject
    /// Sealed to Identity.
    public var password: Box
    /// Of a device token of the account, where one was presented.
    public var device: Digest?

    public init(subject: Subject, password: Box, device: Digest? = nil) {
        self.subject = subject
        self.password = password
        self.device = device
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        password = try fields.value("password") { Box(encoded: $0) }
        device = try fields.optional("device") { Digest($0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "password": .string(password.encoded),
            "device": .text(device?.base64url),
        ]
    }
}
