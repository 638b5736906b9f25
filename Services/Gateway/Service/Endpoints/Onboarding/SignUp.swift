import EventSchema
import HTTP
import Identifiers
import JSON

/// `POST /api/onboarding/session` and `POST /api/auth/register`. A code is confirmed first; the sign-up names that confirmation.
struct SignUp: Sendable {
    let services: EndpointServices
    let confirm: ConfirmCode
    let kind: SignUpKind

    private struct Form {
        var identifier: Identifier
        var password: [UInt8]
        var code: String?
        var profile: JSONObject
    }

    @Sendable func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        let address = context[ClientAddress.self] ?? request.peer
        try await services.limiter.admitSignUp(address)
        let form = try read(context[JSONBody.self] ?? .object([:]))

        let answer = answer(to: form.identifier)
        // The code is consumed only once there is a place for what it is for.
        let reply = try await services.passwords.ask {
            let confirmation = try await confirmation(of: form, request, context)
            return try await services.commands.reply { attempt in
                try command(form, confirmation, attempt, request, context, answer)
            }
        }
        // Who asks for too many addresses whether they have accounts is told no more.
        if reply.outcome == .accountExists { try await services.limiter.admit(address, to: .accountExists) }
        return answer(reply)
    }

    /// The command that confirmed the code, where there is one. Throws what is wrong with the code.
    private func confirmation(of form: Form, _ request: Request, _ context: RequestContext) async throws -> MessageID? {
        guard let code = form.code else { return nil }
        let purpose: Purpose = form.identifier.channel == .email ? .emailVerification : .phoneVerification
        var command = try await confirm.command(form.identifier, code, purpose, request, context)
        // Of a right code that is told too late there is no answer yet: nobody has signed up.
        command.answer = { (APIError($0) ?? .unavailable).response }
        if let error = APIError(try await services.commands.reply(to: command)) { throw error }
        return command.id
    }

    private func read(_ body: JSON) throws(APIError) -> Form {
        var fields = try FieldReader(body)
        let identifier = fields.account(by: services.channels)
        let email: String? = if case .email(let address)? = identifier { address.text } else { nil }
        let password = fields.newPassword("password", email: email)
        // Without a code there would be nothing to tell that a stranger may not know.
        let needsCode = services.proofRequired && kind == .register
        let code = needsCode ? fields.code("code") : fields.optionalCode("code")
        let profile = kind == .register ? fields.profile() : [:]
        guard fields.faults.isEmpty, let identifier, let password else { throw fields.error }
        return Form(identifier: identifier, password: password, code: code, profile: profile)
    }

    private func command(
        _ form: Form, _ confirmation: MessageID?, _ attempt: Int, _ request: Request, _ context: RequestContext,
        _ answer: @escaping @Sendable (Reply) -> Response
    ) throws -> OutgoingCommand {
        let id = (context[Commands.self] ?? CommandIdentity()).id(of: CheckSignUp.type, attempt: attempt)
        let subject = form.identifier.subject(by: services.routing)
        let given = form.profile.withoutNulls
        let check = CheckSignUp(
            subject: subject, channel: form.identifier.channel, kind: kind,
            identifier: try services.seal(Array(form.identifier.text.utf8), SealingContext.identifier(subject: subject)),
            password: try services.seal(form.password, SealingContext.password(subject: subject)),
            profile: given.isEmpty
                ? nil : try services.seal(JSON.object(given).serialized(), SealingContext.profile(in: id)),
            confirmation: confirmation, proofRequired: services.proofRequired, locale: request.preferredLanguage)
        // A session is begun whether or not there is an account.
        let timing: AnswerTiming = kind == .onboarding ? .bucketed : .bucketedUnlessOK
        var command = OutgoingCommand(
            check, to: subject.routingKey, id: id, for: request, context, timing: timing, answer: answer)
        command.subject = subject
        return command
    }

    private func answer(to identifier: Identifier) -> @Sendable (Reply) -> Response {
        switch kind {
        case .register: AccountAnswers.response { .success(AccountAnswers.signedIn($0), status: .created) }
        case .onboarding:
            AccountAnswers.response { data in
                var known = data?.object ?? [:]
                known[identifier.channel == .email ? "email" : "phoneNumber"] = .string(identifier.text)
                let answer: JSON = [
                    "onboardingToken": known["onboardingToken"] ?? .null, "session": AccountAnswers.onboarding(.object(known)),
                ]
                return .success(answer, status: .created)
            }
        }
    }
}

extension JSONObject {
    /// Fields of something new that are to be removed are not there.
    fileprivate var withoutNulls: JSONObject {
        var object = JSONObject()
        for name in keys { if let value = self[name], !value.isNull { object[name] = value } }
        return object
    }
}
