public import Crypto
internal import EventSchema

/// Makes the message of an attempt: opens what was sealed to the Notifier, and fills a template.
public struct MessageComposer: Sendable {
    private let opener: BoxOpener
    private let templates: MessageTemplates

    public init(opener: BoxOpener, templates: MessageTemplates) {
        self.opener = opener
        self.templates = templates
    }

    enum Composition: Equatable, Sendable {
        case message(OutgoingMessage)
        /// The pair that it was sealed to is not held here: it was made by another instance just now, or destroyed.
        case keyMissing
        /// Recipient or code can never be read.
        case unreadable
    }

    func compose(_ attempt: DeliveryAttempted, at time: Timestamp) -> Composition {
        guard let recipientBox = attempt.recipient, let codeBox = attempt.code else { return .unreadable }
        let recipientContext = SealingContext.recipient(subject: attempt.subject, purpose: attempt.purpose)
        let codeContext = SealingContext.code(subject: attempt.subject, purpose: attempt.purpose)
        guard let recipient = text(recipientBox, recipientContext), let code = text(codeBox, codeContext) else {
            return opener.keyIDs.isSuperset(of: [recipientBox.keyID, codeBox.keyID]) ? .unreadable : .keyMissing
        }
        let (locale, template) = templates.template(for: attempt.purpose, attempt.locale)
        let content = template.render(code: code, lifetime: attempt.expiresAt - attempt.requestedAt, in: locale)
        return .message(
            OutgoingMessage(
                id: attempt.send, channel: attempt.channel, recipient: recipient, purpose: attempt.purpose, locale: locale,
                subject: content.subject, text: content.text, html: content.html, code: code, requestedAt: attempt.requestedAt,
                expiresAt: attempt.expiresAt, time: time))
    }

    private func text(_ box: Box, _ context: [UInt8]) -> String? {
        opener.open(box, context: context).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
