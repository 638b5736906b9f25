public import HTTP

/// The address that a request is counted under and that its command carries.
public enum ClientAddress: ContextKey {
    public typealias Value = IPAddress
}

/// Finds the client behind trusted proxies.
public struct FindClient: Middleware {
    public let proxies: [AddressBlock]

    public init(trusting proxies: [AddressBlock]) { self.proxies = proxies }

    public func handle(_ request: Request, context: RequestContext, next: Handler) async throws -> Response {
        var context = context
        context[ClientAddress.self] = request.clientAddress(trusting: proxies)
        return try await next(request, context)
    }
}
