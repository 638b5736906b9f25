public import Runtime

/// One answered request, as access logs and metrics see it. There is one for every request that was answered, whoever
/// answered it: handler, limit, deadline or protocol check.
public struct Observation: Sendable {
    public let requestID: String
    public let trace: TraceContext
    public let method: HTTPMethod
    /// The path as sent. It may hold identifiers; metrics count by `route`.
    public let path: String
    /// The template of the route; `nil` where none matched.
    public let route: String?
    public let status: HTTPStatus
    /// From the complete request to the answer.
    public let duration: Duration
    public let peer: IPAddress
    public let requestBytes: Int
    public let responseBytes: Int
    /// The error behind a bare 500, for the log; never part of the answer.
    public let fault: (any Error)?
    /// The request, for hooks that need a header (client address, user agent).
    public let request: Request
}
