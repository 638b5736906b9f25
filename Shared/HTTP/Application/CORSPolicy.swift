/// Which browser origins may call. Origins are compared exactly; there is no wildcard.
public struct CORSPolicy: Hashable, Sendable {
    /// As browsers send them: `https://app.example.com`, without a slash at the end.
    public var origins: Set<String>
    public var allowsCredentials: Bool
    public var allowedHeaders: [String]
    public var exposedHeaders: [String]
    /// How long a browser may keep the answer to a preflight, in seconds.
    public var maxAge: Int

    public init(
        origins: Set<String>, allowsCredentials: Bool = false,
        allowedHeaders: [String] = ["Authorization", "Content-Type", "Idempotency-Key", "X-Client-Type", "X-Request-Id"],
        exposedHeaders: [String] = ["X-Request-Id", "Retry-After"], maxAge: Int = 600
    ) {
        self.origins = origins
        self.allowsCredentials = allowsCredentials
        self.allowedHeaders = allowedHeaders
        self.exposedHeaders = exposedHeaders
        self.maxAge = maxAge
    }

    /// Whether the request asks what an origin may do (Fetch standard, CORS preflight).
    func isPreflight(_ request: Request) -> Bool {
        request.method == .options && request.headers.contains("Origin")
            && request.headers.contains("Access-Control-Request-Method")
    }

    /// The answer to a preflight: what is allowed, or, for a strange origin, nothing.
    func preflight(_ request: Request, allowed methods: [HTTPMethod]) -> Response {
        var response = Response(.noContent)
        response.headers.append("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
        guard let origin = request.headers["Origin"], origins.contains(origin) else { return response }
        response.headers.append("Access-Control-Allow-Origin", origin)
        if allowsCredentials { response.headers.append("Access-Control-Allow-Credentials", "true") }
        response.headers.append("Access-Control-Allow-Methods", methods.map(\.rawValue).joined(separator: ", "))
        if !allowedHeaders.isEmpty {
            response.headers.append("Access-Control-Allow-Headers", allowedHeaders.joined(separator: ", "))
        }
        response.headers.append("Access-Control-Max-Age", String(maxAge))
        return response
    }

    /// Marks a response for the origin that asked. Every response varies by origin, those to no origin too.
    func mark(_ response: inout Response, for request: Request) {
        response.headers.appendToken("Vary", "Origin")
        guard let origin = request.headers["Origin"], origins.contains(origin) else { return }
        response.headers["Access-Control-Allow-Origin"] = origin
        if allowsCredentials { response.headers["Access-Control-Allow-Credentials"] = "true" }
        if !exposedHeaders.isEmpty {
            response.headers["Access-Control-Expose-Headers"] = exposedHeaders.joined(separator: ", ")
        }
    }
}
