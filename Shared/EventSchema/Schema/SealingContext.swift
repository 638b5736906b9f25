/// What a sealed box is bound to, so that one moved to another record, or taken for another kind, does not open. Sealer and
/// opener make the same bytes.
public enum SealingContext {
    /// The address or number that a code goes to, sealed to the Notifier.
    public static func recipient(subject: Subject, purpose: Purpose) -> [UInt8] { context("recipient", subject, purpose) }

    /// The code on its way out, sealed to the Notifier.
    public static func code(subject: Subject, purpose: Purpose) -> [UInt8] { context("code", subject, purpose) }

    /// The code that somebody entered, sealed to Verification.
    public static func submission(subject: Subject, purpose: Purpose) -> [UInt8] { context("submission", subject, purpose) }

    /// The secret part of a reply to the command with this id, sealed to the waiting gateway process.
    public static func reply(to command: MessageID) -> [UInt8] { Array("latchkey reply".utf8) + [0] + command.bytes }

    /// Client address and user agent of the command with this id, sealed to Identity.
    public static func client(of command: MessageID) -> [UInt8] { Array("latchkey client".utf8) + [0] + command.bytes }

    // MARK: Sealed to Identity

    /// The identifier that somebody signs up with.
    public static func identifier(subject: Subject) -> [UInt8] { context("identifier", subject.bytes) }

    /// The password that somebody signs up, logs in or resets with.
    public static func password(subject: Subject) -> [UInt8] { context("password", subject.bytes) }

    /// The password that a user gives who is signed in.
    public static func password(user: UserID) -> [UInt8] { context("own password", user.bytes) }

    /// The new password of a user who is signed in.
    public static func newPassword(user: UserID) -> [UInt8] { context("new password", user.bytes) }

    /// A profile, or changes of one, in the check with this id.
    public static func profile(in command: MessageID) -> [UInt8] { context("profile", command.bytes) }

    /// The token with this digest.
    public static func token(digest: Digest) -> [UInt8] { context("token", digest.bytes) }

    /// What a used token earns, sealed to Identity around what is encrypted under a key that the token gives.
    public static func successor(of digest: Digest) -> [UInt8] { context("successor", digest.bytes) }

    // MARK: Sealed to the Notifier

    /// The address that a notice goes to.
    public static func notice(subject: Subject) -> [UInt8] { context("notice", subject.bytes) }

    // MARK: Under a data key

    /// A field of what is encrypted under the data key. The key goes over from
    /// an onboarding session to its user, and what is bound to it stays readable.
    public static func personal(_ field: PersonalField, key: DataKeyID) -> [UInt8] {
        context("personal \(field.rawValue)", key.bytes)
    }

    private static func context(_ use: String, _ bytes: [UInt8]) -> [UInt8] { Array("latchkey \(use)".utf8) + [0] + bytes }

    private static func context(_ use: String, _ subject: Subject, _ purpose: Purpose) -> [UInt8] {
        Array("latchkey \(use)".utf8) + [0] + subject.bytes + purpose.rawValue.utf8
    }
}

/// What is encrypted under a data key.
public enum PersonalField: String, Sendable, CaseIterable {
    case identifier
    case passwordHash = "password-hash"
    case profile
    case client
}
