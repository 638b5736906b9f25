import EventSchema
import HTTP
import Identifiers
import JSON

/// `POST /api/auth/login`. Whether there is an account makes no difference here: its device is looked for, and the password goes
/// to Identity sealed.
struct LogInWithPassword: Sendable {
    let services: EndpointServices

    @Sendable func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await services.admit(request, context, to: .login)
        var fields = try FieldReader(context[JSONBody.self] ?? .object([:]))
        let identifier = fields.account(by: services.channels)
        let password = fields.password("password")
        guard let identifier, let password else { throw fields.error }

        let subject = identifier.subject(by: services.routing)
        let account = try await services.accounts.account(of: subject)
        let device = try await services.device(request, of: account)
        let answer = AccountAnswers.response { .success(AccountAnswers.signedIn($0, device: device?.token)) }
        let reply = try await services.passwords.ask {
            try await services.commands.reply { attempt in
                let check = CheckLogin(
                    subject: subject, password: try services.seal(password, SealingContext.password(subject: subject)),
                    device: device?.digest)
                var command = OutgoingCommand(
                    check, to: subject.routingKey, attempt: attempt, for: request, context, timing: .bucketedUnlessOK,
                    answer: answer)
                command.subject = subject
                return command
            }
        }
        return answer(reply)
    }
}
