public import HTTP
public import JSON

/// The body of a request, read before anything is counted or kept for it.
public enum JSONBody: ContextKey {
    public typealias Value = JSON
}

/// Reads the body as JSON. What cannot be read has not reached an endpoint: it is not counted by limits, and no answer is
/// kept for it under an idempotency key (it is the same every time).
public struct ReadJSON: Middleware {
    public init() {}

    public func handle(_ request: Request, context: RequestContext, next: Handler) async throws -> Response {
        var context = context
        context[JSONBody.self] = try request.json()
        return try await next(request, context)
    }
}
