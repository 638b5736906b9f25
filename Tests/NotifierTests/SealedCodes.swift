import Crypto
import EventSchema

/// Codes as Verification seals them, and the opener that the Notifier has for them.
final class SealedCodes: Sendable {
    static let recipient = "user@example.com"
    static let code = "012345"

    let opener = BoxOpener()
    private let sealer = BoxSealer()
    private let key: RecipientKey

    init(holdsKey: Bool = true) {
        let pair = KeyPair.random()
        key = RecipientKey(id: "notifier:" + Base64URL.encode(Array(pair.publicKey.prefix(6))), publicKey: pair.publicKey)
        if holdsKey { opener.insert(pair, id: key.id) }
    }

    static func subject(_ number: Int) -> Subject { Subject(bytes: Array(SHA256.hash(Array("\(number)".utf8)).prefix(16)))! }

    func issued(
        _ number: Int = 1, recipient: String = SealedCodes.recipient, code: String = SealedCodes.code, expiresAt: Timestamp,
        purpose: Purpose = .emailVerification, decoy: Bool = false
    ) throws -> CodeIssued {
        let subject = Self.subject(number)
        return CodeIssued(
            subject: subject, purpose: purpose, channel: purpose.channel, digest: nil, expiresAt: expiresAt,
            recipient: decoy
                ? nil
                : try sealer.seal(
                    Array(recipient.utf8), to: key, context: SealingContext.recipient(subject: subject, purpose: purpose)),
            code: decoy
                ? nil
                : try sealer.seal(Array(code.utf8), to: key, context: SealingContext.code(subject: subject, purpose: purpose)),
            decoy: decoy)
    }

    func notice(to recipient: String = SealedCodes.recipient, subject: Subject) throws -> Notice {
        Notice(
            recipient: try sealer.seal(
                Array(recipient.utf8), to: key, context: SealingContext.notice(subject: subject)), locale: LanguageTag("de"))
    }

    func attempt(requestedAt time: Timestamp) throws -> DeliveryAttempted {
        let issued = try issued(expiresAt: time + .minutes(5))
        return DeliveryAttempted(
            send: .random(), subject: issued.subject, attempt: 1, provider: "scripted", purpose: Occasion(issued.purpose),
            channel: issued.channel, requestedAt: time, expiresAt: issued.expiresAt, recipient: issued.recipient,
            code: issued.code)
    }
}
