import Runtime
import Synchronization

/// Routes and the rules that hold for every request: id, deadline, limits, errors, CORS, observation. It knows nothing of
/// sockets: the server and the client for tests run the same application.
public final class HTTPApplication: Sendable {
    public struct Configuration: Sendable {
        /// How long a handler may take before the client gets 504.
        public var deadline: Duration = .seconds(10)
        /// Requests whose handlers run at one time; those past it get 503 at once. A handler counts until it has ended,
        /// past its deadline too: what it holds is not free before.
        public var inFlightLimit = 1_024
        /// Largest body in bytes of routes that set none of their own.
        public var bodyLimit = 64 * 1_024
        /// What `Retry-After` says when there are too many requests, in seconds.
        public var retryAfter = 1
        /// Off unless set.
        public var cors: CORSPolicy?
        /// `Cache-Control` of responses that have none.
        public var cacheControl = "no-store"

        public init() {}
    }

    public let configuration: Configuration
    let failures: any FailureResponses
    private let routes: RouteTree
    private let middleware: [any Middleware]
    private let observers: [@Sendable (Observation) -> Void]
    private let running = Atomic<Int>(0)

    /// - Parameter observe: called once for each answered request, on the thread that answers it; must not block.
    public init(
        router: Router, configuration: Configuration = Configuration(), failures: any FailureResponses = BareFailures(),
        observe: [@Sendable (Observation) -> Void] = []
    ) {
        self.configuration = configuration
        self.failures = failures
        middleware = router.middleware
        routes = router.tree.mapHandlers { [middleware] in middleware.around($0) }
        observers = observe
    }

    /// Requests whose handlers run now.
    public var inFlight: Int { running.load(ordering: .relaxed) }

    /// What a request with this head will meet.
    struct Plan: Sendable {
        let route: String?
        let parameters: PathParameters
        let bodyLimit: Int
        let handler: Handler
        /// Whether there is a route; else the handler says that there is none.
        let isRouted: Bool
        /// Whether the handler counts against the limit of requests in flight.
        let isLimited: Bool
    }

    func plan(_ method: HTTPMethod, _ head: RequestHead) -> Plan {
        if let failure = head.failure { return plan(for: failure) }
        if head.isServerWide {
            let allowed = routes.methods.map(\.rawValue).joined(separator: ", ")
            return plan(route: "*") { _, _ in Response(.noContent, headers: ["Allow": allowed]) }
        }
        switch routes.match(method, head.path) {
        case .endpoint(let endpoint, let parameters):
            return Plan(
                route: endpoint.template, parameters: parameters, bodyLimit: endpoint.bodyLimit ?? configuration.bodyLimit,
                handler: endpoint.handler, isRouted: true, isLimited: endpoint.isLimited)
        case .otherMethods(let template, let allowed):
            let cors = configuration.cors
            guard method == .options else { return plan(for: .methodNotAllowed(allowed: allowed), route: template) }
            return plan(route: template) { request, _ in
                if let cors, cors.isPreflight(request) { return cors.preflight(request, allowed: allowed) }
                return Response(.noContent, headers: ["Allow": allowed.map(\.rawValue).joined(separator: ", ")])
            }
        case .none:
            return plan(for: .notFound)
        }
    }

    func plan(for failure: HTTPFailure, route: String? = nil) -> Plan {
        plan(route: route) { _, _ in throw failure }
    }

    private func plan(route: String?, _ handler: @escaping Handler) -> Plan {
        Plan(
            route: route, parameters: PathParameters(), bodyLimit: configuration.bodyLimit, handler: middleware.around(handler),
            isRouted: false, isLimited: false)
    }

    /// The answer to a request that nothing behind the protocol shall see, not even middleware.
    func refusal(_ request: Request, _ failure: HTTPFailure, route: String?) -> Response {
        let refused = Mutex(Response(failure.status))
        exchange(request, route, PathParameters()) { response in refused.withLock { $0 = response } }
            .finish(failures.complete(failure))
        return refused.withLock { $0 }
    }

    private func exchange(
        _ request: Request, _ route: String?, _ parameters: PathParameters, onResponse: @escaping @Sendable (Response) -> Void
    ) -> Exchange {
        Exchange(
            application: self, request: request,
            context: RequestContext(
                requestID: RequestID.of(request.headers),
                trace: request.headers["traceparent"].flatMap { TraceContext(traceparent: $0) }?.child() ?? .random(),
                deadline: ContinuousClock.now + configuration.deadline, route: route, parameters: parameters),
            onResponse: onResponse)
    }

    /// Answers a request: `onResponse` is called exactly once, perhaps before this returns.
    @discardableResult
    func dispatch(_ request: Request, _ plan: Plan, onResponse: @escaping @Sendable (Response) -> Void) -> Exchange {
        let exchange = exchange(request, plan.route, plan.parameters, onResponse: onResponse)
        if plan.isLimited, running.add(1, ordering: .relaxed).newValue > configuration.inFlightLimit {
            running.subtract(1, ordering: .relaxed)
            exchange.finish(failures.complete(.unavailable(retryAfter: configuration.retryAfter)))
            return exchange
        }
        let task = Task.immediate { [self] in
            await exchange.run(plan.handler)
            if plan.isLimited { running.subtract(1, ordering: .relaxed) }
        }
        exchange.watch(task, for: configuration.deadline)
        return exchange
    }

    /// The headers that every response carries.
    func complete(_ response: inout Response, for request: Request, _ context: RequestContext) {
        response.headers[RequestID.header] = context.requestID
        response.headers.setDefault("Cache-Control", configuration.cacheControl)
        configuration.cors?.mark(&response, for: request)
    }

    func observe(_ observation: @autoclosure () -> Observation) {
        guard !observers.isEmpty else { return }
        let observation = observation()
        for observer in observers { observer(observation) }
    }
}
