/// A complete answer.
public struct Response: Hashable, Sendable {
    public var status: HTTPStatus
    /// Without `Content-Length`, `Connection`, `Date` and `Transfer-Encoding`, which the server writes.
    public var headers: Headers
    public var body: [UInt8]

    public init(_ status: HTTPStatus = .ok, headers: Headers = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer in plain text, UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok) -> Response {
        Response(status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Array(text.utf8))
    }
}
