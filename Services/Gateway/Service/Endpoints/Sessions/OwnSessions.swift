import EventSchema
import HTTP
import JSON

/// `logout`, `logout-all` and `/api/auth/sessions`: the sessions of who asks.
struct OwnSessions: Sendable {
    let services: EndpointServices

    /// With an access token, or, where that is none any more, with a refresh token.
    @Sendable func logOut(_ request: Request, _ context: RequestContext) async throws -> Response {
        do {
            let caller = try await services.verifier.caller(of: request, context)
            return try await end(
                EndSession(session: caller.session, user: caller.user, reason: .logout),
                services.routing.routingKey(of: caller.user), request, context)
        } catch let error as APIError where error.code == .unauthenticated {
            var fields = try FieldReader(context[JSONBody.self] ?? .object([:]))
            guard let value = fields.value("refreshToken"), !value.isNull else { throw error }
            guard let text = fields.string("refreshToken") else { throw fields.error }
            let presented = try RefreshToken(text, routing: services.routing)
            return try await end(
                EndSession(session: presented.session, reason: .logout), presented.routingKey, request, context)
        }
    }

    @Sendable func logOutEverywhere(_ request: Request, _ context: RequestContext) async throws -> Response {
        let caller = try context.caller()
        return try await end(
            EndAllSessions(user: caller.user, session: caller.session, reason: .logoutAll),
            services.routing.routingKey(of: caller.user), request, context)
    }

    @Sendable func list(_ request: Request, _ context: RequestContext) async throws -> Response {
        let caller = try context.caller()
        return try await services.commands.ask(
            OutgoingCommand(
                ReadSessions(user: caller.user, current: caller.session), to: services.routing.routingKey(of: caller.user),
                for: request, context,
                answer: AccountAnswers.response { .success(["sessions": $0?["sessions"] ?? []]) }))
    }

    @Sendable func revoke(_ request: Request, _ context: RequestContext) async throws -> Response {
        let caller = try context.caller()
        guard let session = context.parameters["id"].flatMap({ SessionID($0) }) else { throw APIError(.notFound) }
        return try await end(
            EndSession(session: session, user: caller.user, reason: .revoked), services.routing.routingKey(of: caller.user),
            request, context)
    }

    private func end(
        _ message: any Message, _ key: RoutingKey, _ request: Request, _ context: RequestContext
    ) async throws -> Response {
        let command = OutgoingCommand(message, to: key, for: request, context, answer: OutgoingCommand.plainly(.success))
        return command.answer(await services.settled(try await services.commands.reply(to: command)))
    }
}
