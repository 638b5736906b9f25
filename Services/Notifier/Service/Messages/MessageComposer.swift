public import Crypto
public import EventSchema

/// Makes the message of an attempt: opens what was sealed to the Notifier, and fills a template.
public struct MessageComposer: Sendable {
    private let opener: BoxOpener
    private let templates: MessageTemplates

    public init(opener: BoxOpener, templates: MessageTemplates) {
        self.opener = opener
        self.templates = templates
    }

    /// `nil` where recipient or code cannot be opened any more: their keys are gone.
    public func compose(_ attempt: DeliveryAttempted, at time: Timestamp) -> OutgoingMessage? {
        let recipientContext = SealingContext.recipient(subject: attempt.subject, purpose: attempt.purpose)
        let codeContext = SealingContext.code(subject: attempt.subject, purpose: attempt.purpose)
        guard let recipient = text(attempt.recipient, recipientContext), let code = text(attempt.code, codeContext) else {
            return nil
        }
        let (locale, template) = templates.template(for: attempt.purpose, attempt.locale)
        let (subject, text) = template.render(code: code, lifetime: attempt.expiresAt - attempt.requestedAt)
        return OutgoingMessage(
            id: attempt.send, channel: attempt.channel, recipient: recipient, purpose: attempt.purpose, locale: locale,
            subject: subject, text: text, code: code, requestedAt: attempt.requestedAt, time: time)
    }

    private func text(_ box: Box?, _ context: [UInt8]) -> String? {
        guard let bytes = box.flatMap({ opener.open($0, context: context) }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
