import Crypto
import EventSchema
import JSON

/// One value or more of every type, by the name of its golden file: the type's name, then what is special about it.
enum Examples {
    private static let first: [(name: String, message: any Message)] = [
        (
            "latchkey.verification.issue-code.v1.plain",
            IssueCode(subject: subject, purpose: .emailVerification, channel: .email, recipient: box("recipient"))
        ),
        (
            "latchkey.verification.issue-code.v1.reset",
            IssueCode(
                subject: subject, purpose: .passwordReset, channel: .email, recipient: box("recipient"),
                locale: LanguageTag("de-AT"),
                overDailyLimit: true, account: account, device: device)
        ),
        (
            "latchkey.verification.issue-code.v1.decoy",
            IssueCode(subject: subject, purpose: .passwordReset, channel: .email, recipient: box("recipient"), decoy: true)
        ),
        (
            "latchkey.verification.confirm-code.v1.plain",
            ConfirmCode(subject: subject, purpose: .phoneVerification, code: box("123456"))
        ),
        (
            "latchkey.verification.confirm-code.v1.device",
            ConfirmCode(subject: subject, purpose: .passwordReset, code: box("123456"), device: device)
        ),
        (
            "latchkey.verification.code-issued.v1.plain",
            CodeIssued(
                subject: subject, purpose: .emailVerification, channel: .email, digest: digest, salt: bytes(16),
                expiresAt: noon + .minutes(5),
                recipient: box("recipient"), code: box("code"))
        ),
        (
            "latchkey.verification.code-issued.v1.reset",
            CodeIssued(
                subject: subject, purpose: .passwordReset, channel: .email, digest: digest, salt: bytes(16),
                expiresAt: noon + .minutes(5),
                recipient: box("recipient"), code: box("code"), locale: LanguageTag("zh-Hant"), account: account, device: device)
        ),
        (
            "latchkey.verification.code-issued.v1.decoy",
            CodeIssued(
                subject: subject, purpose: .passwordReset, channel: .email, digest: nil, expiresAt: noon + .minutes(5),
                recipient: nil,
                code: nil, decoy: true)
        ),
        ("latchkey.verification.code-missed.v1.plain", CodeMissed(subject: subject, purpose: .emailVerification)),
        ("latchkey.verification.code-missed.v1.device", CodeMissed(subject: subject, purpose: .passwordReset, device: device)),
        ("latchkey.verification.code-exhausted.v1.plain", CodeExhausted(subject: subject, purpose: .phoneVerification)),
        (
            "latchkey.verification.code-exhausted.v1.device",
            CodeExhausted(subject: subject, purpose: .passwordReset, device: device)
        ),
        (
            "latchkey.verification.code-confirmed.v1.plain",
            CodeConfirmed(subject: subject, purpose: .phoneVerification, channel: .sms)
        ),
        (
            "latchkey.verification.code-confirmed.v1.device",
            CodeConfirmed(subject: subject, purpose: .passwordReset, channel: .email, device: device)
        ),
        (
            "latchkey.identity.contact-verified.v1.flag",
            ContactVerified(
                subject: subject, channel: .email, verifiedAt: noon, user: nil, sessions: [], flagUntil: noon + .minutes(10),
                confirmation: message)
        ),
        (
            "latchkey.identity.contact-verified.v1.user",
            ContactVerified(
                subject: subject, channel: .sms, verifiedAt: noon, user: account.user, sessions: [session(1), session(2)],
                flagUntil: nil,
                confirmation: message)
        ),
        ("latchkey.notifier.retry-delivery.v1.plain", RetryDelivery(send: message)),
        (
            "latchkey.notifier.delivery-attempted.v1.plain",
            DeliveryAttempted(
                send: message, subject: subject, attempt: 1, provider: "console", purpose: .emailVerification, channel: .email,
                requestedAt: noon, expiresAt: noon + .minutes(5), recipient: box("recipient"), code: box("code"),
                locale: LanguageTag("de"))
        ),
        (
            "latchkey.notifier.delivery-attempted.v1.bare",
            DeliveryAttempted(
                send: message, subject: subject, attempt: 7, provider: "smtp", purpose: .passwordReset, channel: .email,
                requestedAt: noon, expiresAt: noon + .minutes(5), recipient: nil, code: nil)
        ),
        (
            "latchkey.notifier.delivered.v1.plain",
            Delivered(send: message, attempt: 2, provider: "resend", providerID: "49a3999c-0ce1-4ea6-ab68-afcd6dc2e794")
        ),
        ("latchkey.notifier.delivered.v1.bare", Delivered(send: message, attempt: 1, provider: "console")),
        (
            "latchkey.notifier.delivery-failed.v1.again",
            DeliveryFailed(
                send: message, attempt: 1, provider: "smtp", reason: .rateLimited, retryAt: noon + .milliseconds(1_250))
        ),
        (
            "latchkey.notifier.delivery-failed.v1.final",
            DeliveryFailed(send: message, attempt: 3, provider: "twilio", reason: .recipientRefused, retryAt: nil)
        ),
        ("latchkey.notifier.delivery-unknown.v1.plain", DeliveryUnknown(send: message, attempt: 1, provider: "twilio")),
        ("latchkey.notifier.delivery-expired.v1.plain", DeliveryExpired(send: message)),
        ("latchkey.reply.v1.ok", Reply(outcome: .ok)),
        ("latchkey.reply.v1.refused", Reply(outcome: .maxAttemptsExceeded)),
        (
            "latchkey.reply.v1.full",
            Reply(
                outcome: .ok, data: ["expiresIn": 300, "nested": ["text": "ü\n\"", "list": [1, true, nil]]], sealed: bytes(40))
        ),
        (
            "latchkey.keys.sealing-key-published.v1.plain",
            SealingKeyPublished(
                service: .notifier, key: "n-2024-02-29", publicKey: bytes(32), notBefore: noon, notAfter: noon + .days(1))
        ),
        (
            "latchkey.keys.signing-key-retired.v1.rotated",
            SigningKeyRetired(key: "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs", retiredAt: noon, isRevoked: false)
        ),
        (
            "latchkey.keys.signing-key-retired.v1.revoked",
            SigningKeyRetired(key: "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs", retiredAt: noon, isRevoked: true)
        ),
    ]

    private static let rest: [(name: String, message: any Message)] = [
        (
            "latchkey.verification.confirm-code.v1.account",
            ConfirmCode(subject: subject, purpose: .passwordReset, code: box("123456"), account: account)
        ),
        (
            "latchkey.identity.contact-verified.v1.command",
            ContactVerified(
                subject: subject, channel: .email, verifiedAt: noon, user: nil, sessions: [], flagUntil: nil,
                confirmation: message, command: message)
        ),
        ("latchkey.reply.v1.boxes", Reply(outcome: .ok, data: ["a": 1], boxes: [box("reply"), box("person")])),
    ]

    static let all = first + rest + identityChecks + identityCommands + identityEvents + resetTokens

    static let noon = required(Timestamp(rfc3339: "2024-02-29T12:00:00.000Z"))
    static let subject = required(Subject(bytes: bytes(16)))
    static let message = required(MessageID("6fa459ea-ee8a-4ca4-894e-db77e160355e"))
    static let account = AccountReference(user: required(UserID("a0a1a2a3-a4a5-86a7-a8a9-f26e209fa7f8")), credentialVersion: 4)
    static let device = Digest(of: Array("device".utf8))
    static let digest = Digest(of: Array("digest".utf8))

    static func session(_ number: UInt8) -> OnboardingSessionID {
        required(OnboardingSessionID("00000000-0000-4000-8000-0000000000\(number < 10 ? "0" : "")\(number)"))
    }

    /// Not a box that opens: one of the right form.
    static func box(_ content: String) -> Box {
        required(Box(encoded: "1.n1.\(Base64URL.encode(bytes(32) + bytes(24) + Array(content.utf8) + bytes(16)))"))
    }

    static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) } }

    static func required<Value>(_ value: Value?) -> Value {
        guard let value else { preconditionFailure("an example is malformed") }
        return value
    }
}
