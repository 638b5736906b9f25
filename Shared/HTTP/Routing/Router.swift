/// The routes of an application. Templates are literal segments and parameters: `/auth/sessions/{id}`; a literal wins over a
/// parameter. `HEAD` is answered by the `GET` route, `OPTIONS` by the list of methods, unless they have routes of their own.
public struct Router: Sendable {
    private(set) var tree = RouteTree()
    /// Around every request, those without a route included.
    private(set) var middleware: [any Middleware] = []
    private var prefix = ""
    private var groupMiddleware: [any Middleware] = []
    private var groupBodyLimit: Int?

    public init() {}

    /// Adds middleware around everything that this router answers, 404 and 405 included. Inside `group` it stands around the
    /// routes that the group adds after it.
    public mutating func use(_ middleware: any Middleware) {
        if prefix.isEmpty { self.middleware.append(middleware) } else { groupMiddleware.append(middleware) }
    }

    /// Adds a route. `bodyLimit` is in bytes and overrides the application's. One that is not limited is answered although
    /// there are too many requests in flight.
    public mutating func on(
        _ method: HTTPMethod, _ template: String, bodyLimit: Int? = nil, isLimited: Bool = true,
        middleware: [any Middleware] = [],
        _ handler: @escaping Handler
    ) {
        tree.insert(
            method, prefix + template, bodyLimit: bodyLimit ?? groupBodyLimit, isLimited: isLimited,
            handler: (groupMiddleware + middleware).around(handler))
    }

    public mutating func get(_ template: String, middleware: [any Middleware] = [], _ handler: @escaping Handler) {
        on(.get, template, middleware: middleware, handler)
    }

    public mutating func post(
        _ template: String, bodyLimit: Int? = nil, middleware: [any Middleware] = [], _ handler: @escaping Handler
    ) {
        on(.post, template, bodyLimit: bodyLimit, middleware: middleware, handler)
    }

    public mutating func put(
        _ template: String, bodyLimit: Int? = nil, middleware: [any Middleware] = [], _ handler: @escaping Handler
    ) {
        on(.put, template, bodyLimit: bodyLimit, middleware: middleware, handler)
    }

    public mutating func patch(
        _ template: String, bodyLimit: Int? = nil, middleware: [any Middleware] = [], _ handler: @escaping Handler
    ) {
        on(.patch, template, bodyLimit: bodyLimit, middleware: middleware, handler)
    }

    public mutating func delete(
        _ template: String, bodyLimit: Int? = nil, middleware: [any Middleware] = [], _ handler: @escaping Handler
    ) {
        on(.delete, template, bodyLimit: bodyLimit, middleware: middleware, handler)
    }

    /// Adds routes below a common prefix, with middleware and a body limit of their own.
    public mutating func group(
        _ prefix: String, bodyLimit: Int? = nil, middleware: [any Middleware] = [], _ build: (inout Router) -> Void
    ) {
        let outer = self
        self.prefix += prefix
        groupMiddleware += middleware
        groupBodyLimit = bodyLimit ?? groupBodyLimit
        build(&self)
        self.prefix = outer.prefix
        groupMiddleware = outer.groupMiddleware
        groupBodyLimit = outer.groupBodyLimit
    }
}
