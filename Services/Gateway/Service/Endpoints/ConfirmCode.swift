public import Crypto
public import EventSchema
public import HTTP
import Identifiers
import JSON

/// `POST /api/verification/confirm`. The code goes to Verification sealed, and only it knows whether it is the right one.
public struct ConfirmCode: Sendable {
    let channels: VerificationChannels
    let routing: Routing
    let limiter: Limiter
    let keys: any RecipientKeys
    let sealer: BoxSealer
    let commands: any CommandPath

    public init(
        channels: VerificationChannels, routing: Routing, limiter: Limiter, keys: any RecipientKeys, sealer: BoxSealer,
        commands: any CommandPath
    ) {
        self.channels = channels
        self.routing = routing
        self.limiter = limiter
        self.keys = keys
        self.sealer = sealer
        self.commands = commands
    }

    @Sendable public func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = context[JSONBody.self] ?? .object([:])
        let isReset = body["purpose"]?.string == Purpose.passwordReset.rawValue
        try await limiter.admit(context[ClientAddress.self] ?? request.peer, to: isReset ? .verifyResetCode : .confirm)
        let (identifier, code, purpose) = try read(body)

        guard let verification = keys.current(.verification) else { throw APIError.unavailable }
        let subject = identifier.subject(by: routing)
        let sealed = try sealer.seal(
            Array(code.utf8), to: verification, context: SealingContext.submission(subject: subject, purpose: purpose))
        return try await commands.ask(
            OutgoingCommand(
                EventSchema.ConfirmCode(subject: subject, purpose: purpose, code: sealed), about: subject, for: request, context,
                answer: OutgoingCommand.plainly(.success)))
    }

    func read(_ body: JSON) throws(APIError) -> (Identifier, code: String, Purpose) {
        var fields = try FieldReader(body)
        let kind = fields.channel(ofPurpose: "purpose", by: channels)
        let identifier = fields.identifier("identifier", for: kind, by: channels)
        let code = fields.code("code")
        let purpose = fields.choice("purpose", of: channels.purposes)
        guard let identifier, let code, let purpose else { throw fields.error }
        return (identifier, code, purpose)
    }
}
