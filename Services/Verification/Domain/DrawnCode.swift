public import EventSchema

/// A code that was drawn for a command before it was decided. Most are used, some are not (a decoy, a send too many).
public struct DrawnCode: Hashable, Sendable {
    /// What an entered code is compared with.
    public let digest: Digest
    /// 16 random bytes.
    public let salt: [UInt8]
    /// The code itself, sealed to the Notifier.
    public let code: SealedBox

    /// `hmac` is what ``EnteredCode/hmac(_:others:)`` will be when the code is entered.
    public init(hmac: Digest, salt: [UInt8], code: SealedBox) {
        digest = Self.digest(hmac, salt: salt)
        self.salt = salt
        self.code = code
    }

    static func digest(_ hmac: Digest, salt: [UInt8]) -> Digest { Digest(of: hmac.bytes + salt) }
}

/// A code as somebody entered it.
public enum EnteredCode: Hashable, Sendable {
    /// HMAC-SHA256 over subject, purpose and code, under Verification's key; and under others that it is accepted under while
    /// that key is replaced.
    case hmac(Digest, others: [Digest] = [])
    /// The box that it came in does not open (any more).
    case unreadable
}
