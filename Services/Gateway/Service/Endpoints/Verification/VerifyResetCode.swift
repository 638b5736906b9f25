import EventSchema
import HTTP
import JSON

/// `POST /api/auth/verify-reset-code`: a right code becomes a reset token.
struct VerifyResetCode: Sendable {
    let services: EndpointServices
    let confirm: ConfirmCode

    @Sendable func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await services.admit(request, context, to: .verifyResetCode)
        var fields = try FieldReader(context[JSONBody.self] ?? .object([:]))
        let identifier = fields.identifier("email", for: .email, by: services.channels)
        let code = fields.code("code")
        guard let identifier, let code else { throw fields.error }
        return try await services.commands.ask(confirm.command(identifier, code, .passwordReset, request, context))
    }
}
