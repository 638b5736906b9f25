/// A request as a client of tests and benches sends it.
public struct ClientRequest: Sendable {
    public var method: HTTPMethod
    /// Path and query, as they go into the request line.
    public var target: String
    public var headers: Headers
    public var body: [UInt8]

    public init(_ method: HTTPMethod, _ target: String, headers: Headers = [:], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    public static func get(_ target: String, headers: Headers = [:]) -> ClientRequest {
        ClientRequest(.get, target, headers: headers)
    }

    /// A POST of JSON text.
    public static func post(_ target: String, json: String, headers: Headers = [:]) -> ClientRequest {
        var headers = headers
        headers.setDefault("Content-Type", "application/json")
        return ClientRequest(.post, target, headers: headers, body: Array(json.utf8))
    }
}

/// A response as a client got it.
public struct ClientResponse: Hashable, Sendable {
    public var status: HTTPStatus
    public var headers: Headers
    public var body: [UInt8]

    public var text: String { String(decoding: body, as: UTF8.self) }
}

/// Sends requests somewhere: the same test runs against the application in memory and against a socket.
public protocol Client: Sendable {
    func send(_ request: ClientRequest) async throws -> ClientResponse
}
