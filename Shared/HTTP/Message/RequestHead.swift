/// What the request line and the header fields say, checked by the rules of RFC 9110 and 9112 that are not the C library's.
struct RequestHead {
    var path: RequestPath
    var query: Query
    var failure: HTTPFailure?
    /// The target is `*`: the request asks about the server, not about a resource.
    var isServerWide = false
    /// The body comes in chunks.
    var isChunked = false
    /// The body's announced length in bytes.
    var contentLength: UInt64 = 0

    /// The path of requests that name none, or none that can be read.
    static let root = RequestPath("/")!

    static func check(method: String, target: String, headers: Headers, isHTTP10: Bool = false) -> RequestHead {
        var head = RequestHead(path: root, query: Query())
        guard isToken(method), head.read(target, method), head.readFraming(headers, isHTTP10), checkHost(headers, isHTTP10) else {
            head.failure = head.failure ?? .malformedRequest
            return head
        }
        if headers.values("Expect").contains(where: { !Headers.same($0, "100-continue") }) { head.failure = .expectationFailed }
        return head
    }

    /// Origin form; absolute form, which proxies use and servers must accept; `*` for `OPTIONS`.
    private mutating func read(_ target: String, _ method: String) -> Bool {
        let bytes = target.utf8
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }) else { return false }
        if target == "*" {
            isServerWide = true
            return method == "OPTIONS"
        }
        var rest = Substring(target)
        if bytes.first != UInt8(ascii: "/") {
            let lowercased = target.prefix(8).lowercased()
            guard let scheme = ["http://", "https://"].first(where: lowercased.hasPrefix) else { return false }
            rest = rest.dropFirst(scheme.count)
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            guard !authority.isEmpty, !authority.contains("@") else { return false }
            rest = rest.dropFirst(authority.count)
            if rest.first != "/" { rest = "/" + rest }
        }
        let parts = rest.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = RequestPath(String(Substring(parts[0]))) else { return false }
        self.path = path
        if parts.count == 2 {
            guard let query = Query(Substring(parts[1])) else { return false }
            self.query = query
        }
        return true
    }

    /// Where the body ends must be said once and in one way: whatever two readers could understand differently is refused.
    private mutating func readFraming(_ headers: Headers, _ isHTTP10: Bool) -> Bool {
        let lengths = headers.count(of: "Content-Length")
        let codings = headers.count(of: "Transfer-Encoding")
        if codings > 0 {
            guard codings == 1, lengths == 0, !isHTTP10 else { return false }
            guard Headers.same(headers["Transfer-Encoding"] ?? "", "chunked") else {
                failure = .unknownTransferCoding
                return false
            }
            isChunked = true
        }
        if lengths > 0 {
            let digits = headers["Content-Length"] ?? ""
            guard lengths == 1, (1...19).contains(digits.utf8.count), digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
                let length = UInt64(digits)
            else { return false }
            contentLength = length
        }
        return true
    }

    private static func checkHost(_ headers: Headers, _ isHTTP10: Bool) -> Bool {
        switch headers.count(of: "Host") {
        case 0: return isHTTP10
        case 1:
            return (headers["Host"] ?? "").utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                case 0x25, 0x2d, 0x2e, 0x3a, 0x5b, 0x5d, 0x5f, 0x7e: true  // % - . : [ ] _ ~
                case 0x21, 0x24, 0x26...0x2b, 0x3b, 0x3d: true  // sub-delims, without the comma that joins two values
                default: false
                }
            }
        default: return false
        }
    }
}

/// A token of RFC 9110 §5.6.2: methods and field names.
func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
    case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e, 0x5e...0x60, 0x7c, 0x7e: true
    default: false
    }
}
