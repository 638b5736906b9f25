internal import Curl
internal import EventSchema
public import Runtime

/// Submits e-mail to a mail server. What it has taken nobody can ask it: an attempt without an outcome stays unknown.
public struct SMTPProvider: Provider {
    /// As settings and events name it.
    public static let providerName = "smtp"

    public let name = Self.providerName
    public let removesDoubles = false
    public let batchSize = 1
    public let concurrency: Int
    private let sender: MailAddress
    private let client: SMTPClient
    private let logger: Logger

    public init(_ settings: SMTPSettings, sender: MailAddress, logger: Logger) {
        self.sender = sender
        self.logger = logger
        concurrency = settings.connections
        var server = settings.server
        server.clientName = sender.domain
        client = SMTPClient(server)
    }

    public func deliver(_ messages: [OutgoingMessage]) -> [ProviderResult] { messages.map(deliver) }

    public func close() { client.close() }

    private func deliver(_ message: OutgoingMessage) -> ProviderResult {
        let mail = MailMessage(
            id: message.id, sender: sender, recipient: message.recipient, subject: message.subject ?? "", text: message.text,
            html: message.html, locale: message.locale, date: message.requestedAt)
        let left = message.expiresAt - message.time
        let outcome = client.send(
            SMTPSubmission(
                sender: sender.address, recipient: message.recipient, content: mail.rendered(),
                deadline: .now + .milliseconds(left.milliseconds)))
        note(outcome, message.id)
        return Self.result(of: outcome)
    }

    /// Replies are told by their numbers: their texts may name the recipient.
    private func note(_ outcome: SMTPOutcome, _ id: MessageID) {
        let logger = logger.with(["send": .public(id.text)])
        switch outcome {
        case .accepted, .unknown: break
        case .refused(let reply, let stage):
            logger.warning(
                "the mail server refused a message", ["reply": .public(reply.description), "stage": .public(stage.description)])
        case .failed(let failure):
            logger.warning("a message could not be handed to the mail server", ["reason": .public(failure.rawValue)])
        }
    }

    /// RFC 5321, section 4.2.1: what begins with 4 may be otherwise later, what begins with 5 will not.
    static func result(of outcome: SMTPOutcome) -> ProviderResult {
        switch outcome {
        case .accepted: .delivered(providerID: nil)
        case .unknown: .unknown
        case .refused(let reply, let stage): .failed(reason(of: reply, at: stage))
        case .failed(let failure): .failed(reason(of: failure))
        }
    }

    private static func reason(of reply: SMTPReply, at stage: SMTPStage) -> DeliveryFailed.Reason {
        // Shutting down, whatever it is asked.
        if reply.code == 421 { return .unavailable }
        if reply.isPassing {
            // Full mailboxes and greylists are about one recipient, and say nothing against the server.
            return stage == .recipient ? .rateLimited : .unavailable
        }
        // It wants another sign-in, or does not want this client to send there: another provider may be let.
        let isPolicy = reply.code == 530 || reply.code == 535 || reply.status?.hasPrefix("5.7.") == true
        switch stage {
        case .greeting, .hello, .startTLS, .signIn, .sender: return .unauthorized
        case .recipient: return isPolicy ? .unauthorized : .recipientRefused
        case .data, .content: return .messageRefused
        }
    }

    private static func reason(of failure: SMTPOutcome.Failure) -> DeliveryFailed.Reason {
        switch failure {
        case .unreachable, .disconnected, .insecure: .unreachable
        case .timedOut, .late: .timeout
        case .noSignIn: .unauthorized
        case .addressUnsupported, .addressInvalid: .recipientRefused
        case .misconfigured: .notConfigured
        }
    }
}
