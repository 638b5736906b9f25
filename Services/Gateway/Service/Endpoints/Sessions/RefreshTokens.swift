import EventSchema
import HTTP
import JSON

/// `POST /api/auth/refresh`: the tokens after these.
struct RefreshTokens: Sendable {
    let services: EndpointServices

    @Sendable func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await services.admit(request, context, to: .refresh)
        var fields = try FieldReader(context[JSONBody.self] ?? .object([:]))
        guard let text = fields.string("refreshToken") else { throw fields.error }
        let presented = try RefreshToken(text, routing: services.routing)
        let token = presented.token
        let answer = AccountAnswers.response { .success(.object(AccountAnswers.tokens($0))) }
        let reply = try await services.commands.reply { attempt in
            OutgoingCommand(
                RefreshSession(
                    session: presented.session,
                    token: try services.seal(token.bytes, SealingContext.token(digest: token.digest)), digest: token.digest),
                to: presented.routingKey, attempt: attempt, for: request, context, answer: answer)
        }
        return answer(reply)
    }
}

/// A refresh token that Latchkey made, once.
struct RefreshToken {
    var token: ReferenceToken
    var session: SessionID
    var routingKey: RoutingKey

    /// Throws `REFRESH_TOKEN_INVALID`.
    init(_ text: String, routing: Routing) throws(APIError) {
        guard let token = ReferenceToken(text, kind: .refresh), let (routingKey, reference) = routing.open(token),
            let session = SessionID(bytes: reference)
        else { throw APIError(.refreshTokenInvalid) }
        self.token = token
        self.session = session
        self.routingKey = routingKey
    }
}
