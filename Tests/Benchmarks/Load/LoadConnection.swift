import Glibc

/// One connection that is kept, with one request on it at a time.
final class LoadConnection {
    enum State {
        case idle
        /// A request is under way.
        case asking
        /// The delivery of a code is awaited.
        case awaitingCode
    }

    let descriptor: Int32
    var state = State.idle
    /// What the request, or the pair, is about.
    var number: UInt32 = 0
    var isConfirming = false
    /// In microseconds of the steady clock.
    var started: Int64 = 0
    var answered: Int64 = 0

    private var buffer = [UInt8](repeating: 0, count: 8_192)
    private var filled = 0
    /// Of the last answer.
    private var length = 0

    /// As many as are asked for. Ends the program where nobody listens.
    static func all(_ options: Options) -> [LoadConnection] {
        (0..<options.connections).map { _ in
            guard let connection = LoadConnection(port: options.port) else {
                LoadGenerator.fail("nobody listens at port \(options.port)")
            }
            return connection
        }
    }

    /// `nil` where nobody listens.
    init?(port: UInt16) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard descriptor >= 0, result == 0 else { return nil }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    /// A request is far smaller than what a socket takes at once.
    func send(_ request: [UInt8]) -> Bool {
        state = .asking
        return Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
    }

    enum Reception {
        case incomplete
        case answer(status: Int)
        case ended
    }

    func receive() -> Reception {
        let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + filled, $0.count - filled, 0) }
        if count < 0, errno == EAGAIN || errno == EINTR { return .incomplete }
        guard count > 0 else { return .ended }
        filled += count
        guard let status = completeStatus() else { return filled < buffer.count ? .incomplete : .ended }
        length = filled
        filled = 0
        return .answer(status: status)
    }

    /// What stands in the last answer behind this, up to the next quotation mark.
    func text(behind name: StaticString) -> [UInt8]? {
        buffer.withUnsafeBytes { bytes in
            guard let start = bytes.position(behind: name, within: length) else { return nil }
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start..<length])
            return rest.firstIndex(of: UInt8(ascii: "\"")).map { Array(rest[..<$0]) }
        }
    }

    /// The status, once head and body are there.
    private func completeStatus() -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let body = bytes.position(behind: "\r\n\r\n", within: filled),
                var index = bytes.position(behind: "Content-Length: ", within: body)
            else { return nil }
            var length = 0
            while bytes[index] >= 0x30, bytes[index] <= 0x39 {
                length = length * 10 + Int(bytes[index] - 0x30)
                index += 1
            }
            guard filled >= body + length else { return nil }
            return Int(bytes[9] - 0x30) * 100 + Int(bytes[10] - 0x30) * 10 + Int(bytes[11] - 0x30)
        }
    }
}
