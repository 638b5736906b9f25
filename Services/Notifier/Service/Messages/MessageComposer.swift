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
        guard let recipientBox = attempt.recipient else { return .unreadable }
        let purpose = attempt.purpose.purpose
        let recipientContext =
            purpose.map { SealingContext.recipient(subject: attempt.subject, purpose: $0) }
            ?? SealingContext.notice(subject: attempt.subject)
        let boxes = [recipientBox, attempt.code].compactMap { $0 }
        guard let recipient = text(recipientBox, recipientContext), let code = code(of: attempt, for: purpose) else {
            return opener.keyIDs.isSuperset(of: boxes.map(\.keyID)) ? .unreadable : .keyMissing
        }
        let (locale, template) = templates.template(for: attempt.purpose, attempt.locale)
        let content = template.render(code: code, lifetime: attempt.expiresAt - attempt.requestedAt, in: locale)
        return .message(
            OutgoingMessage(
                id: attempt.send, channel: attempt.channel, recipient: recipient, purpose: attempt.purpose, locale: locale,
                subject: content.subject, text: content.text, html: content.html, code: code, requestedAt: attempt.requestedAt,
                expiresAt: attempt.expiresAt, time: time))
    }

    /// `.some(nil)` for a notice, `nil` where there must be a code and none can be read.
    private func code(of attempt: DeliveryAttempted, for purpose: Purpose?) -> String?? {
        guard let purpose else { return .some(nil) }
        let context = SealingContext.code(subject: attempt.subject, purpose: purpose)
        guard let code = attempt.code.flatMap({ text($0, context) }) else { return nil }
        return .some(code)
    }

    private func text(_ box: Box, _ context: [UInt8]) -> String? {
        opener.open(box, context: context).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
