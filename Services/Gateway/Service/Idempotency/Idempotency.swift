public import Crypto
public import HTTP

/// Answers a request that comes again under its `Idempotency-Key` as the first time.
///
/// The request stands in the store before anything is done for it, and its commands take their ids from there. Whoever gets
/// the request again after a gateway has died publishes the same command, and the service that owns it gives the first
/// outcome.
public struct Idempotency: Middleware {
    private let store: any AnswerStore
    /// Of all secrets that a request may be known under, that of new ones first.
    private let keys: [IdempotencyKeys]
    /// A gateway that has not answered within this time may have died. If it has not, two of them publish one command, which
    /// has one outcome.
    private let lease: Duration

    /// - Parameter accepted: secrets under which requests may be known already, while `secret` takes the place of another one.
    public init(store: any AnswerStore, secret: Secret, accepted: [Secret] = [], lease: Duration) {
        self.store = store
        keys = ([secret] + accepted).map { IdempotencyKeys($0) }
        self.lease = lease
    }

    public func handle(_ request: Request, context: RequestContext, next: Handler) async throws -> Response {
        guard let key = try IdempotentRequest.key(of: request) else {
            var context = context
            context[Commands.self] = CommandIdentity()
            return try await next(request, context)
        }
        let known = keys.map { IdempotentRequest(request, key: key, keys: $0) }
        func idempotent(_ scope: [UInt8]) -> IdempotentRequest { known.first { $0.name.scope == scope } ?? known[0] }
        var pause = Duration.milliseconds(10)
        while true {
            switch try await store.claim(known.map(\.name), lease: lease) {
            case .mine(let hold):
                return try await perform(request, context, idempotent(hold.scope), hold, next)
            case .answered(let sealed, let scope):
                return try open(sealed, for: idempotent(scope))
            case .otherBody:
                throw APIError(.idempotencyConflict)
            case .held:
                // Ends with the request's deadline, which cancels the task.
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(80))
            }
        }
    }

    private func perform(
        _ request: Request, _ context: RequestContext, _ idempotent: IdempotentRequest, _ hold: Hold, _ next: Handler
    ) async throws -> Response {
        let identity = CommandIdentity(
            root: idempotent.commandRoot(hold), replyPair: idempotent.replyPair,
            remember: hold.remaining, isRepeated: !hold.isFirst
        ) { [store] response in
            guard Self.isKept(response) else { return }
            Task { try? await store.keep(idempotent.seal(response), for: hold) }
        }
        var context = context
        context[Commands.self] = identity
        let response: Response
        do {
            do {
                response = try await next(request, context)
            } catch let error as any HTTPResponseError {
                response = error.response
            }
        } catch {
            await release(hold, identity)
            throw error
        }
        guard Self.isKept(response) else {
            await release(hold, identity)
            return response
        }
        return await keep(response, idempotent, hold)
    }

    /// 401, 413, 415, 429 and 5xx are not kept.
    static func isKept(_ response: Response) -> Bool {
        switch response.status {
        case .unauthorized, .payloadTooLarge, .unsupportedMediaType, .tooManyRequests: false
        default: response.status.rawValue < 500
        }
    }

    /// An answer that cannot be kept is given all the same: what has happened has happened, and the command's owner
    /// remembers it too.
    private func keep(_ response: Response, _ idempotent: IdempotentRequest, _ hold: Hold) async -> Response {
        let sealed = idempotent.seal(response)
        guard let kept = await settle({ [store] in try await store.keep(sealed, for: hold) }), kept != sealed else {
            return response
        }
        return idempotent.open(kept) ?? response
    }

    private func release(_ hold: Hold, _ identity: CommandIdentity) async {
        // What an earlier holder has sent may have an outcome, too, unless it was sent again and refused: what is refused once
        // stays so.
        let trace = identity.trace
        await settle { [store] in try await store.release(hold, trace == .nothing && !hold.isFirst ? .commands : trace) }
    }

    /// Runs to its end although the request's deadline may have passed. What fails here ends with its lease.
    @discardableResult
    private func settle<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async -> Value? {
        await Task { try? await work() }.value
    }

    private func open(_ sealed: [UInt8], for idempotent: IdempotentRequest) throws -> Response {
        guard let response = idempotent.open(sealed) else { throw UnreadableAnswer() }
        return response
    }
}

/// A kept answer that does not open under the secret that its request was found by: the row was tampered with.
struct UnreadableAnswer: Error {}
