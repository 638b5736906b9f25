/// Answers a request.
///
/// It runs on the thread of an event loop until it waits for something for the first time, so what is answered at once costs
/// no change of threads. In return it must not block, nor compute for long, before or after.
public typealias Handler = @Sendable (Request, RequestContext) async throws -> Response

/// Stands around handlers: may change the request, answer itself, or change the response.
public protocol Middleware: Sendable {
    func handle(_ request: Request, context: RequestContext, next: Handler) async throws -> Response
}

extension Sequence<any Middleware> {
    /// The handler inside these, the first one outermost.
    func around(_ handler: @escaping Handler) -> Handler {
        reversed().reduce(handler) { inner, middleware in
            { request, context in try await middleware.handle(request, context: context, next: inner) }
        }
    }
}
