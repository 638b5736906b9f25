public import Crypto
public import EventSchema
public import HTTP
import Identifiers
import JSON

/// `POST /api/verification/send`.
///
/// For every purpose and every address the same is done: the budget of the day is counted, the account is looked up, a
/// command goes to Verification, and the answer is the same whatever came of it.
public struct SendCode: Sendable {
    let channels: VerificationChannels
    let routing: Routing
    let limiter: Limiter
    let accounts: any AccountDirectory
    let keys: any RecipientKeys
    let sealer: BoxSealer
    let commands: any CommandPath

    public init(
        channels: VerificationChannels, routing: Routing, limiter: Limiter, accounts: any AccountDirectory,
        keys: any RecipientKeys, sealer: BoxSealer, commands: any CommandPath
    ) {
        self.channels = channels
        self.routing = routing
        self.limiter = limiter
        self.accounts = accounts
        self.keys = keys
        self.sealer = sealer
        self.commands = commands
    }

    @Sendable public func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = context[JSONBody.self] ?? .object([:])
        let isReset = body["purpose"]?.string == Purpose.passwordReset.rawValue
        try await limiter.admit(context[ClientAddress.self] ?? request.peer, to: isReset ? .forgotPassword : .send)
        let (identifier, purpose) = try read(body)

        let subject = identifier.subject(by: routing)
        async let isOver = limiter.isOverDailySends(subject, purpose)
        async let found = accounts.account(of: subject)
        let (overDailyLimit, account) = try await (isOver, found)

        guard let notifier = keys.current(.notifier) else { throw APIError.unavailable }
        let recipient = try sealer.seal(
            Array(identifier.text.utf8), to: notifier, context: SealingContext.recipient(subject: subject, purpose: purpose))
        let command = IssueCode(
            subject: subject, purpose: purpose, channel: purpose.channel, recipient: recipient, locale: request.preferredLanguage,
            overDailyLimit: overDailyLimit, decoy: purpose == .passwordReset && account == nil,
            account: purpose == .passwordReset ? account : nil)
        return try await commands.ask(
            OutgoingCommand(
                command, about: subject, for: request, context,
                answer: { reply in ErrorCode(reply.outcome).map { APIError($0).response } ?? .success(reply.data ?? [:]) }))
    }

    func read(_ body: JSON) throws(APIError) -> (Identifier, Purpose) {
        var fields = try FieldReader(body)
        let channel = fields.choice("channel", of: channels.channels)
        let kind = channel ?? fields.channel(ofPurpose: "purpose", by: channels)
        let identifier = fields.identifier("identifier", for: kind, by: channels)
        let purpose = fields.choice("purpose", of: channels.purposes)
        if let channel, let purpose, purpose.channel != channel {
            fields.refuse("purpose", "Goes with channel \"\(purpose.channel.rawValue)\".")
        }
        guard fields.faults.isEmpty, let identifier, let purpose else { throw fields.error }
        return (identifier, purpose)
    }
}
