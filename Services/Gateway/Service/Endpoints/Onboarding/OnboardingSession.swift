import Crypto
import EventSchema
import HTTP
import JSON

/// `GET` and `PATCH /api/onboarding/session`, and `POST /api/onboarding/complete`, with an onboarding token.
struct OnboardingSession: Sendable {
    let services: EndpointServices

    @Sendable func read(_ request: Request, _ context: RequestContext) async throws -> Response {
        let onboarding = try await services.verifier.onboarding(of: request)
        return try await read(onboarding, request, context)
    }

    private func read(_ onboarding: Onboarding, _ request: Request, _ context: RequestContext) async throws -> Response {
        let command = OutgoingCommand(
            ReadOnboarding(session: onboarding.session), to: services.routing.routingKey(of: onboarding.session), for: request,
            context, answer: Self.session)
        return try await services.commands.ask(command)
    }

    @Sendable func update(_ request: Request, _ context: RequestContext) async throws -> Response {
        let onboarding = try await services.verifier.onboarding(of: request)
        var fields = try FieldReader(context[JSONBody.self] ?? .object([:]))
        let patch = fields.profile()
        guard fields.faults.isEmpty else { throw fields.error }
        if patch.isEmpty { return try await read(onboarding, request, context) }
        let update = ProfileUpdate(services: services, target: .onboarding(onboarding.session), patch: patch)
        return try await update.answer(request, context, Self.session)
    }

    @Sendable func complete(_ request: Request, _ context: RequestContext) async throws -> Response {
        let onboarding = try await services.verifier.onboarding(of: request)
        let token = Array(onboarding.token.utf8)
        let digest = Digest(of: token)
        let signedIn = AccountAnswers.response { .success(AccountAnswers.signedIn($0), status: .created) }
        let answer: @Sendable (Reply) -> Response = { reply in
            // Said of an identifier that has an account just so: the session is not that of an owner.
            reply.outcome == .forbidden ? APIError(.forbidden, Self.unproven).response : signedIn(reply)
        }
        let reply = try await services.commands.reply { attempt in
            OutgoingCommand(
                CheckCompletion(
                    session: onboarding.session, token: try services.seal(token, SealingContext.token(digest: digest)),
                    digest: digest, proofRequired: services.proofRequired),
                to: services.routing.routingKey(of: onboarding.session), attempt: attempt, for: request, context,
                timing: .bucketedUnlessOK, answer: answer)
        }
        return answer(reply)
    }

    private static let unproven = "Verify the e-mail address or phone number first."
    private static let session = AccountAnswers.response { .success(["session": AccountAnswers.onboarding($0)]) }
}
