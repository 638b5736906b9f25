import Crypto
import EventSchema
import HTTP
import Identifiers
import JSON

/// `POST /api/verification/confirm`. The code goes to Verification sealed, and only it knows whether it is the right one.
struct ConfirmCode: Sendable {
    let channels: VerificationChannels
    let routing: Routing
    let limiter: Limiter
    let accounts: any AccountDirectory
    let devices: any DeviceDirectory
    let keys: any RecipientKeys
    let sealer: BoxSealer
    let commands: any CommandPath

    @Sendable func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = context[JSONBody.self] ?? .object([:])
        let isReset = body["purpose"]?.string == Purpose.passwordReset.rawValue
        try await limiter.admit(context[ClientAddress.self] ?? request.peer, to: isReset ? .verifyResetCode : .confirm)
        let (identifier, code, purpose) = try read(body)
        return try await commands.ask(command(identifier, code, purpose, request, context))
    }

    /// The command that asks Verification. Account and device are looked up whatever the purpose.
    func command(
        _ identifier: Identifier, _ code: String, _ purpose: Purpose, _ request: Request, _ context: RequestContext
    ) async throws -> OutgoingCommand {
        let subject = identifier.subject(by: routing)
        let account = try await accounts.account(of: subject)
        let device = try await KnownDevice.find(in: request, of: account, routing: routing, devices: devices)
        guard let verification = keys.current(.verification) else { throw APIError.unavailable }
        let sealed = try sealer.seal(
            Array(code.utf8), to: verification, context: SealingContext.submission(subject: subject, purpose: purpose))
        return OutgoingCommand(
            EventSchema.ConfirmCode(
                subject: subject, purpose: purpose, code: sealed, device: device?.digest,
                account: purpose == .passwordReset ? account : nil),
            about: subject, for: request, context, answer: Self.answer(to: purpose))
    }

    private static func answer(to purpose: Purpose) -> @Sendable (Reply) -> Response {
        guard purpose == .passwordReset else { return OutgoingCommand.plainly(.success) }
        return AccountAnswers.response { data in
            .success(["resetToken": data?["resetToken"] ?? .null, "expiresIn": data?["expiresIn"] ?? .null])
        }
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
