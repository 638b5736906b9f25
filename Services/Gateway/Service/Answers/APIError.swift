import EventSchema
public import HTTP
import JSON

/// One wrong field of a request.
public struct FieldFault: Hashable, Sendable {
    /// The field's name as the contract writes it.
    public var path: String
    public var message: String

    public init(_ path: String, _ message: String) {
        self.path = path
        self.message = message
    }
}

/// A failure as the client sees it.
public struct APIError: HTTPResponseError, Hashable {
    public var code: ErrorCode
    public var message: String
    /// Only with `.validation`: every wrong field, in the order of the contract.
    public var fields: [FieldFault]
    /// Whole seconds, at least 1.
    public var retryAfter: Int?
    /// Where it is not that of the code.
    public var status: HTTPStatus

    public init(_ code: ErrorCode, _ message: String? = nil, fields: [FieldFault] = [], retryAfter: Int? = nil) {
        self.code = code
        self.message = message ?? code.message
        self.fields = fields
        self.retryAfter = retryAfter
        status = code.status
    }

    /// What a reply is to the client; `nil` for success.
    init?(_ reply: Reply) {
        guard let code = ErrorCode(reply.outcome) else { return nil }
        switch code {
        case .rateLimited: self = .rateLimited(for: .seconds(reply.data?["retryAfter"]?.int64 ?? 1))
        case .unavailable: self = .unavailable
        default: self.init(code)
        }
    }

    public static func invalid(_ fields: [FieldFault]) -> APIError { APIError(.validation, fields: fields) }

    /// The log or Postgres is away: nothing was acknowledged.
    public static let unavailable = APIError(.unavailable, retryAfter: 1)

    /// - Parameter wait: until the next request would pass.
    public static func rateLimited(for wait: Duration) -> APIError {
        let (whole, rest) = wait.components
        let seconds = max(1, Int(whole) + (rest > 0 ? 1 : 0))
        let minutes = (seconds + 59) / 60
        return APIError(
            .rateLimited, "Too many requests. Try again in \(minutes) \(minutes == 1 ? "minute" : "minutes").",
            retryAfter: seconds)
    }

    public var response: Response {
        var error: JSONObject = ["code": .string(code.rawValue), "message": .string(message)]
        if !fields.isEmpty {
            error["fields"] = .array(fields.map { ["path": .string($0.path), "message": .string($0.message)] })
        }
        var headers: Headers = [:]
        if let retryAfter { headers["Retry-After"] = String(max(1, retryAfter)) }
        if status == .unauthorized { headers["WWW-Authenticate"] = "Bearer" }
        return .json(["success": false, "error": .object(error)], status: status, headers: headers)
    }
}

/// The words of the contract for what the HTTP layer refuses by itself.
public struct APIFailures: FailureResponses {
    public init() {}

    public func response(for failure: HTTPFailure) -> Response {
        switch failure {
        case .malformedBody: APIError(.validation, "The body is not valid JSON.").response
        case .malformedRequest: APIError(.validation, "The request is malformed.").response
        case .payloadTooLarge(let limit): APIError(.payloadTooLarge, "The body must be at most \(limit) bytes.").response
        default: APIError(ErrorCode(failure)).response
        }
    }
}
