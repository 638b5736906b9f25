/// A request whose head was checked and whose body was read completely.
public struct Request: Sendable {
    public var method: HTTPMethod
    public var path: RequestPath
    public var query: Query
    /// `Transfer-Encoding` and its trailers are resolved; what stands here is what was sent.
    public var headers: Headers
    public var body: [UInt8]
    /// The address at the other end of the TCP connection.
    public var peer: IPAddress
    /// Whether it came over TLS to this server.
    public var isSecure: Bool

    public init(
        method: HTTPMethod, path: RequestPath, query: Query = Query(), headers: Headers = [:], body: [UInt8] = [],
        peer: IPAddress = .loopbackV4, isSecure: Bool = false
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
        self.isSecure = isSecure
    }
}
