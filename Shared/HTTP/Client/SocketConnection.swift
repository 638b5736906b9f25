import CMicroHTTPD
import Glibc

/// Why a client got no response.
public enum ClientError: Error, Hashable, Sendable {
    case cannotConnect(reason: String)
    /// The other side closed or reset the connection before the response was complete.
    case closed
    /// Nothing came within the client's time.
    case timedOut
    case malformedResponse
}

/// A blocking HTTP/1.1 connection, for tests and benches: it sends exactly what it is told, so that a server's strictness can
/// be tested too. It may move between threads, but belongs to one at a time: nothing is locked, hence `@unchecked`.
public final class SocketConnection: @unchecked Sendable {
    private let socket: Int32
    private var buffer: [UInt8] = []
    private var position = 0

    /// - Parameter timeout: for each wait for bytes.
    public init(port: UInt16, address: String = "127.0.0.1", timeout: Duration = .seconds(10)) throws(ClientError) {
        guard let address = IPAddress(address) else { throw .cannotConnect(reason: "not an address") }
        socket = Glibc.socket(address.isV4 ? AF_INET : AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw .cannotConnect(reason: String(cString: strerror(errno))) }
        var limit = timeval(
            tv_sec: Int(timeout.nanoseconds / 1_000_000_000), tv_usec: Int(timeout.nanoseconds % 1_000_000_000 / 1_000))
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        let result = address.withSocketAddress(port: port) { connect(socket, $0, $1) }
        guard result == 0 else { throw .cannotConnect(reason: String(cString: strerror(errno))) }
    }

    deinit { close(socket) }

    public func send(_ text: String) throws(ClientError) { try send(Array(text.utf8)) }

    public func send(_ bytes: [UInt8]) throws(ClientError) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw errno == EAGAIN ? .timedOut : .closed }
            sent += count
        }
    }

    /// Says that nothing more will be sent.
    public func endSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// Sends a request with `Host` and `Content-Length` added where they are missing.
    public func send(_ request: ClientRequest) throws(ClientError) {
        var headers = request.headers
        headers.setDefault("Host", "localhost")
        if !request.body.isEmpty || request.method == .post, !headers.contains("Transfer-Encoding") {
            headers.setDefault("Content-Length", String(request.body.count))
        }
        var text = "\(request.method) \(request.target) HTTP/1.1\r\n"
        for field in headers { text += "\(field.name): \(field.value)\r\n" }
        try send(Array((text + "\r\n").utf8) + request.body)
    }

    /// Sends a request and waits for its response.
    public func exchange(_ request: ClientRequest) throws(ClientError) -> ClientResponse {
        try send(request)
        return try receive(toHead: request.method == .head)
    }

    /// Waits for the next final response.
    /// - Parameter toHead: the request was `HEAD`: no body follows whatever the header fields say.
    public func receive(toHead: Bool = false) throws(ClientError) -> ClientResponse {
        while true {
            let response = try receiveAny(toHead: toHead)
            if response.status.rawValue >= 200 { return response }
        }
    }

    /// Waits for the next response, interim ones (100) included.
    public func receiveAny(toHead: Bool = false) throws(ClientError) -> ClientResponse {
        let status = try line()
        let parts = status.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0] == "HTTP/1.1" || parts[0] == "HTTP/1.0", let code = Int(parts[1]) else {
            throw .malformedResponse
        }
        var response = ClientResponse(status: HTTPStatus(rawValue: code), headers: [:], body: [])
        while true {
            let text = try line()
            if text.isEmpty { break }
            guard let colon = text.firstIndex(of: ":") else { throw .malformedResponse }
            response.headers.append(String(text[..<colon]), trimmed(text[text.index(after: colon)...].utf8))
        }
        guard !toHead, response.status.allowsBody else { return response }
        if let coding = response.headers["Transfer-Encoding"], Headers.same(coding, "chunked") {
            while true {
                guard let size = Int(try line(), radix: 16) else { throw .malformedResponse }
                response.body += try bytes(size)
                guard try line().isEmpty else { throw .malformedResponse }
                if size == 0 { return response }
            }
        }
        if let length = response.headers["Content-Length"] {
            guard let count = Int(length), count >= 0 else { throw .malformedResponse }
            response.body = try bytes(count)
        } else {
            response.body = try rest()
        }
        return response
    }

    /// Waits until the other side has closed the connection; what it still sends is dropped. `false` if it stays open for
    /// the time of one wait.
    public func isClosed() -> Bool {
        do {
            while try receiveBytes() != nil {}
            return true
        } catch {
            return error == .closed
        }
    }

    /// Whether the other side has closed the connection by now.
    var hasEnded: Bool {
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
    }

    private func line() throws(ClientError) -> String {
        var scanned = position
        while true {
            if let end = buffer[scanned...].firstIndex(of: 0x0a) {
                let text = buffer[position..<(end > position && buffer[end - 1] == 0x0d ? end - 1 : end)]
                position = end + 1
                return String(decoding: text, as: UTF8.self)
            }
            scanned = buffer.count - position
            try refill()
        }
    }

    private func bytes(_ count: Int) throws(ClientError) -> [UInt8] {
        while buffer.count - position < count { try refill() }
        defer { position += count }
        return Array(buffer[position..<(position + count)])
    }

    /// Everything up to the end of the connection.
    private func rest() throws(ClientError) -> [UInt8] {
        while let more = try receiveBytes() { buffer += more }
        defer { position = buffer.count }
        return Array(buffer[position...])
    }

    /// Adds what comes next to what is buffered and not taken.
    private func refill() throws(ClientError) {
        guard let more = try receiveBytes() else { throw .closed }
        buffer.removeFirst(position)
        position = 0
        buffer += more
    }

    /// What comes next; `nil` at the end.
    private func receiveBytes() throws(ClientError) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(socket, &chunk, chunk.count, 0)
            if count > 0 { return Array(chunk[..<count]) }
            if count == 0 { return nil }
            switch errno {
            case EINTR: continue
            case EAGAIN: throw .timedOut
            default: throw .closed
            }
        }
    }
}
