import EventSchema
import HTTP
import JSON

/// Changes of a profile on their way: of a user, or of an onboarding session.
struct ProfileUpdate: Sendable {
    let services: EndpointServices
    let target: ProfileTarget
    let patch: JSONObject

    func answer(
        _ request: Request, _ context: RequestContext, _ answer: @escaping @Sendable (Reply) -> Response
    ) async throws -> Response {
        let identity = context[Commands.self] ?? CommandIdentity()
        let reply = try await services.commands.reply { attempt in
            let id = identity.id(of: CheckProfile.type, attempt: attempt)
            let sealed = try services.seal(JSON.object(patch).serialized(), SealingContext.profile(in: id))
            return OutgoingCommand(
                CheckProfile(target: target, patch: sealed), to: routingKey, id: id, for: request, context, timing: timing,
                answer: answer)
        }
        return answer(reply)
    }

    /// A session may be that of an identifier which has an account, and whoever has it need not be its owner.
    private var timing: AnswerTiming {
        switch target {
        case .user: .free
        case .onboarding: .bucketed
        }
    }

    private var routingKey: RoutingKey {
        switch target {
        case .user(let user): services.routing.routingKey(of: user)
        case .onboarding(let session): services.routing.routingKey(of: session)
        }
    }
}
