import Crypto
import EventSchema
import HTTP
import Identifiers
import JSON

/// `POST /api/verification/confirm`. The code goes to Verification sealed, and only it knows whether it is the right one.
struct ConfirmCode: Sendable {
    let services: EndpointServices

    @Sendable func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = context[JSONBody.self] ?? .object([:])
        let isReset = body["purpose"]?.string == Purpose.passwordReset.rawValue
        try await services.admit(request, context, to: isReset ? .verifyResetCode : .confirm)
        let (identifier, code, purpose) = try read(body)
        return try await services.commands.ask(command(identifier, code, purpose, request, context))
    }

    /// The command that asks Verification.
    func command(
        _ identifier: Identifier, _ code: String, _ purpose: Purpose, _ request: Request, _ context: RequestContext
    ) async throws -> OutgoingCommand {
        let subject = identifier.subject(by: services.routing)
        let isReset = purpose == .passwordReset
        let looksAtAccount = services.looksAtAccount(for: purpose, request)
        let account = looksAtAccount ? try await services.accounts.account(of: subject) : nil
        let device = try await services.device(request, of: account)
        let sealed = try services.seal(
            Array(code.utf8), SealingContext.submission(subject: subject, purpose: purpose), to: .verification)
        return OutgoingCommand(
            EventSchema.ConfirmCode(
                subject: subject, purpose: purpose, code: sealed, device: device?.digest,
                account: isReset ? account : nil),
            about: subject, for: request, context, timing: looksAtAccount ? .bucketedUnlessOK : .free,
            answer: Self.answer(to: purpose))
    }

    private static func answer(to purpose: Purpose) -> @Sendable (Reply) -> Response {
        guard purpose == .passwordReset else { return OutgoingCommand.plainly(.success) }
        return AccountAnswers.response { data in
            .success(["resetToken": data?["resetToken"] ?? .null, "expiresIn": data?["expiresIn"] ?? .null])
        }
    }

    func read(_ body: JSON) throws(APIError) -> (Identifier, code: String, Purpose) {
        var fields = try FieldReader(body)
        let kind = fields.channel(ofPurpose: "purpose", by: services.channels)
        let identifier = fields.identifier("identifier", for: kind, by: services.channels)
        let code = fields.code("code")
        let purpose = fields.choice("purpose", of: services.channels.purposes)
        guard let identifier, let code, let purpose else { throw fields.error }
        return (identifier, code, purpose)
    }
}
