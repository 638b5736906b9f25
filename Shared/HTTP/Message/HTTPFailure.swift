/// What the HTTP layer itself refuses. How it reads on the wire is the application's: see `FailureResponses`.
public enum HTTPFailure: Error, Hashable, Sendable {
    /// The request breaks the protocol: 400, and the connection ends.
    case malformedRequest
    /// The body is not what its type says (for JSON: not RFC 8259, not UTF-8): 400.
    case malformedBody
    /// No route has this path, or a path parameter cannot be read: 404.
    case notFound
    /// The path has routes, none for this method: 405 with `Allow`.
    case methodNotAllowed(allowed: [HTTPMethod])
    /// The body exceeds `limit` bytes: 413.
    case payloadTooLarge(limit: Int)
    /// The body is of a type that the route does not read: 415.
    case unsupportedMediaType
    /// An `Expect` that is not `100-continue`: 417.
    case expectationFailed
    /// Request line and header fields exceed the server's limit: 431.
    case headerTooLarge
    /// An error that says nothing about its response: 500, never a detail.
    case internalError
    /// A transfer coding that the server does not have: 501, and the connection ends.
    case unknownTransferCoding
    /// Too many requests in flight, or the server stops: 503 with `Retry-After` in whole seconds.
    case unavailable(retryAfter: Int)
    /// The deadline passed; the outcome is unknown: 504.
    case timeout

    public var status: HTTPStatus {
        switch self {
        case .malformedRequest, .malformedBody: .badRequest
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .payloadTooLarge: .payloadTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .expectationFailed: .expectationFailed
        case .headerTooLarge: .headerFieldsTooLarge
        case .internalError: .internalServerError
        case .unknownTransferCoding: .notImplemented
        case .unavailable: .serviceUnavailable
        case .timeout: .gatewayTimeout
        }
    }

    /// Header fields that belong to the failure whatever its body says.
    var requiredHeaders: Headers {
        switch self {
        case .methodNotAllowed(let allowed): ["Allow": allowed.map(\.rawValue).joined(separator: ", ")]
        case .unavailable(let retryAfter): ["Retry-After": String(max(1, retryAfter))]
        default: [:]
        }
    }
}

/// An error that knows its response. Every other error becomes `HTTPFailure.internalError`.
public protocol HTTPResponseError: Error {
    var response: Response { get }
}

/// The application's words for what the HTTP layer refuses. The status, and headers such as `Allow` and `Retry-After`, are
/// set by the HTTP layer where the response lacks them.
public protocol FailureResponses: Sendable {
    func response(for failure: HTTPFailure) -> Response
}

/// A failure as its status and nothing else.
public struct BareFailures: FailureResponses {
    public init() {}

    public func response(for failure: HTTPFailure) -> Response { Response(failure.status) }
}

extension FailureResponses {
    /// The response with everything that the failure requires, for middleware that turns errors into responses itself.
    public func complete(_ failure: HTTPFailure) -> Response {
        var response = response(for: failure)
        for field in failure.requiredHeaders { response.headers.setDefault(field.name, field.value) }
        return response
    }
}
