import EventSchema
import HTTP
import JSON

/// `POST /api/auth/forgot-password`: `send` with `password_reset`, in another format.
struct ForgotPassword: Sendable {
    let services: EndpointServices
    let send: SendCode

    static let message = "If an account exists for that email, a reset code has been sent."

    @Sendable func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await services.admit(request, context, to: .forgotPassword)
        var fields = try FieldReader(context[JSONBody.self] ?? .object([:]))
        let identifier = fields.identifier("email", for: .email, by: services.channels)
        guard let identifier else { throw fields.error }
        return try await send.issue(
            identifier, .passwordReset, request, context, answer: OutgoingCommand.plainly(.success(message: Self.message)))
    }
}
