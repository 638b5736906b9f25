import EventSchema
import HTTP
import Identifiers
import JSON

/// `POST /api/auth/forgot-password`: `send` with `password_reset`, in another format.
struct ForgotPassword: Sendable {
    let services: EndpointServices
    let send: SendCode

    static let message = "If an account exists for that email, a reset code has been sent."

    @Sendable func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = context[JSONBody.self] ?? .object([:])
        return try await send.issue(
            within: .forgotPassword, request, context, read: { () throws(APIError) in (try read(body), .passwordReset) },
            answer: OutgoingCommand.plainly(.success(message: Self.message)))
    }

    private func read(_ body: JSON) throws(APIError) -> Identifier {
        var fields = try FieldReader(body)
        guard let identifier = fields.identifier("email", for: .email, by: services.channels) else { throw fields.error }
        return identifier
    }
}
