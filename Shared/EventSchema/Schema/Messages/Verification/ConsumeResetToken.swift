public import Crypto
public import JSON

/// Asks Verification to consume a reset token. Whatever follows, the token is gone.
public struct ConsumeResetToken: Message {
    public static let type = MessageType.consumeResetToken

    /// What the token refers to.
    public var subject: Subject
    /// SHA-256 of the token.
    public var digest: Digest
    /// The new password, sealed to Identity.
    public var password: Box

    public init(subject: Subject, digest: Digest, password: Box) {
        self.subject = subject
        self.digest = digest
        self.password = password
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        digest = try fields.value("digest") { Digest($0) }
        password = try fields.value("password") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "digest": .string(digest.base64url),
            "password": .string(password.encoded),
        ]
    }
}
