/// Every type of message that is written now, by its explicit, versioned name. Names are part of the log for ever and
/// independent of Swift's; older versions are read through ``Upcasters``.
public enum MessageType: String, Sendable, CaseIterable {
    // verification.commands
    case issueCode = "latchkey.verification.issue-code.v1"
    case confirmCode = "latchkey.verification.confirm-code.v1"

    // verification.events
    case codeIssued = "latchkey.verification.code-issued.v1"
    case codeMissed = "latchkey.verification.code-missed.v1"
    case codeExhausted = "latchkey.verification.code-exhausted.v1"
    case codeConfirmed = "latchkey.verification.code-confirmed.v1"

    // identity.events
    case contactVerified = "latchkey.identity.contact-verified.v1"

    // notifier.commands
    case retryDelivery = "latchkey.notifier.retry-delivery.v1"

    // notifier.events
    case deliveryAttempted = "latchkey.notifier.delivery-attempted.v1"
    case delivered = "latchkey.notifier.delivered.v1"
    case deliveryFailed = "latchkey.notifier.delivery-failed.v1"
    case deliveryUnknown = "latchkey.notifier.delivery-unknown.v1"
    case deliveryExpired = "latchkey.notifier.delivery-expired.v1"

    // replies
    case reply = "latchkey.reply.v1"

    // keys
    case sealingKeyPublished = "latchkey.keys.sealing-key-published.v1"

    /// The versioned name, as `ce_type` carries it.
    public var name: String { rawValue }

    /// What reads and writes it.
    public var message: any Message.Type {
        switch self {
        case .issueCode: IssueCode.self
        case .confirmCode: ConfirmCode.self
        case .codeIssued: CodeIssued.self
        case .codeMissed: CodeMissed.self
        case .codeExhausted: CodeExhausted.self
        case .codeConfirmed: CodeConfirmed.self
        case .contactVerified: ContactVerified.self
        case .retryDelivery: RetryDelivery.self
        case .deliveryAttempted: DeliveryAttempted.self
        case .delivered: Delivered.self
        case .deliveryFailed: DeliveryFailed.self
        case .deliveryUnknown: DeliveryUnknown.self
        case .deliveryExpired: DeliveryExpired.self
        case .reply: Reply.self
        case .sealingKeyPublished: SealingKeyPublished.self
        }
    }

    /// The one topic that messages of this type stand in.
    public var topic: Topic {
        switch self {
        case .issueCode, .confirmCode: .verificationCommands
        case .codeIssued, .codeMissed, .codeExhausted, .codeConfirmed: .verificationEvents
        case .contactVerified: .identityEvents
        case .retryDelivery: .notifierCommands
        case .deliveryAttempted, .delivered, .deliveryFailed, .deliveryUnknown, .deliveryExpired: .notifierEvents
        case .reply: .replies
        case .sealingKeyPublished: .keys
        }
    }
}
