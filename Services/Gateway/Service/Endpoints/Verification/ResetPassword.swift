import EventSchema
import HTTP
import JSON

/// `POST /api/auth/reset-password`. What is wrong with the new password costs nothing; after that the token is consumed, whatever
/// follows.
struct ResetPassword: Sendable {
    let services: EndpointServices

    static let message = "Password reset. Please log in with your new password."

    @Sendable func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await services.admit(request, context, to: .resetPassword)
        var fields = try FieldReader(context[JSONBody.self] ?? .object([:]))
        let text = fields.string("resetToken")
        let password = fields.newPassword("newPassword")
        guard let text, let password else { throw fields.error }

        guard let token = ReferenceToken(text, kind: .reset), let (_, reference) = services.routing.open(token),
            let subject = Subject(bytes: reference)
        else { throw APIError(.resetTokenInvalid) }
        let command = ConsumeResetToken(
            subject: subject, digest: token.digest,
            password: try services.seal(password, SealingContext.password(subject: subject)))
        let outgoing = OutgoingCommand(
            command, about: subject, for: request, context, answer: OutgoingCommand.plainly(.success(message: Self.message)))
        let reply = try await services.passwords.ask { try await services.commands.reply(to: outgoing) }
        return outgoing.answer(await services.settled(reply))
    }
}
