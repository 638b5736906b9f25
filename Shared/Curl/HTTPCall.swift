/// A request to somebody else's HTTP interface.
public struct HTTPCall: Sendable {
    public var url: String
    /// Names and values, which may be secret.
    public var headers: [(name: String, value: String)]
    /// Basic authentication (RFC 7617).
    public var credentials: (user: String, password: String)?
    /// What is posted.
    public var body: [UInt8]
    /// Until the whole answer is there.
    public var timeout: Duration

    public init(
        url: String, headers: [(name: String, value: String)] = [], credentials: (user: String, password: String)? = nil,
        body: [UInt8], timeout: Duration = .seconds(30)
    ) {
        self.url = url
        self.headers = headers
        self.credentials = credentials
        self.body = body
        self.timeout = timeout
    }
}

/// What became of a call.
public enum HTTPOutcome: Equatable, Sendable {
    case answered(Answer)
    /// It certainly did not reach the server.
    case failed(Failure)
    /// It was on its way, and no answer came.
    case unknown

    public struct Answer: Equatable, Sendable {
        public var status: Int
        /// `Retry-After` in seconds; a date counts as absent.
        public var retryAfter: Int?
        public var body: [UInt8]

        public init(status: Int, retryAfter: Int? = nil, body: [UInt8]) {
            self.status = status
            self.retryAfter = retryAfter
            self.body = body
        }
    }

    public enum Failure: String, Sendable {
        case unreachable
        case timedOut = "timed_out"
        /// There is no TLS, or the certificate is not accepted.
        case insecure
        case misconfigured
    }
}
