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

    private static func context(_ use: String, _ subject: Subject, _ purpose: Purpose) -> [UInt8] {
        Array("latchkey \(use)".utf8) + [0] + subject.bytes + purpose.rawValue.utf8
    }
}
