import EventSchema
import HTTP
import JSON

/// `/api/auth/me` and `change-password`: what users do to themselves.
struct OwnUser: Sendable {
    let services: EndpointServices

    @Sendable func read(_ request: Request, _ context: RequestContext) async throws -> Response {
        let caller = try context.caller()
        let version = await services.users.version(of: caller.user)
        if let known = services.users.answer(to: caller.user, as: version) { return known }
        let reply = try await services.commands.reply(
            to: OutgoingCommand(
                ReadUser(user: caller.user), to: services.routing.routingKey(of: caller.user), for: request, context,
                answer: Self.user))
        let answer = Self.user(reply)
        // Groups may be changed, and changed back meanwhile.
        if let version, reply.outcome == .ok, reply.groups == version.groups { await remember(answer, to: caller, as: version) }
        return answer
    }

    private func remember(_ answer: Response, to caller: Caller, as version: UserVersion) async {
        services.users.keep(answer, to: caller.user, as: version)
        // Who is erased meanwhile is forgotten here or, if this comes first, where the sessions end.
        if (try? await services.revocations.isEnded(caller.session, of: caller.user)) != false {
            services.users.forget(caller.user)
        }
    }

    @Sendable func update(_ request: Request, _ context: RequestContext) async throws -> Response {
        var fields = try FieldReader(context[JSONBody.self] ?? .object([:]))
        let patch = fields.profile()
        guard fields.faults.isEmpty else { throw fields.error }
        if patch.isEmpty { return try await read(request, context) }
        let update = ProfileUpdate(services: services, target: .user(try context.caller().user), patch: patch)
        return try await update.answer(request, context, Self.user)
    }

    @Sendable func changePassword(_ request: Request, _ context: RequestContext) async throws -> Response {
        let caller = try context.caller()
        var fields = try FieldReader(context[JSONBody.self] ?? .object([:]))
        let current = fields.password("currentPassword")
        let new = fields.newPassword("newPassword")
        guard let current, let new else { throw fields.error }
        return try await passwordChecked(request, context) {
            CheckPasswordChange(
                user: caller.user, session: caller.session,
                current: try services.seal(current, SealingContext.password(user: caller.user)),
                new: try services.seal(new, SealingContext.newPassword(user: caller.user)))
        }
    }

    @Sendable func erase(_ request: Request, _ context: RequestContext) async throws -> Response {
        let caller = try context.caller()
        var fields = try FieldReader(context[JSONBody.self] ?? .object([:]))
        guard let password = fields.password("password") else { throw fields.error }
        return try await passwordChecked(request, context) {
            CheckErasure(
                user: caller.user, session: caller.session,
                password: try services.seal(password, SealingContext.password(user: caller.user)))
        }
    }

    /// Sends what a right password of the user allows.
    private func passwordChecked(
        _ request: Request, _ context: RequestContext, _ make: () throws -> any Message
    ) async throws -> Response {
        let key = services.routing.routingKey(of: try context.caller().user)
        let reply = try await services.passwords.ask {
            try await services.commands.reply { attempt in
                OutgoingCommand(try make(), to: key, attempt: attempt, for: request, context, answer: Self.checked)
            }
        }
        return Self.checked(await services.settled(reply))
    }

    /// A 401 would make clients refresh their tokens and try again.
    private static let checked: @Sendable (Reply) -> Response = { reply in
        guard var error = APIError(reply) else { return .success }
        if error.code == .invalidCredentials {
            error.status = .badRequest
            error.message = "The password is wrong."
        }
        return error.response
    }

    private static let user = AccountAnswers.response { .success(["user": AccountAnswers.user($0)]) }
}

extension Reply {
    /// The user's, where one is told.
    fileprivate var groups: [String]? { data?["user"]?["groups"]?.array?.compactMap(\.string) }
}
