internal import CTLS
internal import Glibc

/// One connection of a server: lines and bytes, in the clear or over TLS. Used by one thread.
final class Wire {
    private let socket: Int32
    private var tls: OpaquePointer?
    private var received: [UInt8] = []
    private(set) var isOpen = true

    var isEncrypted: Bool { tls != nil }

    init(socket: Int32) { self.socket = socket }

    deinit {
        if let tls { SSL_free(tls) }
        Glibc.close(socket)
    }

    /// Goes on over TLS. What has been received already is forgotten: nothing from the clear may count afterwards.
    func encrypt(_ context: OpaquePointer) -> Bool {
        received = []
        guard let tls = SSL_new(context), SSL_set_fd(tls, socket) == 1, SSL_accept(tls) == 1 else {
            isOpen = false
            return false
        }
        self.tls = tls
        return true
    }

    /// The next line without its end; `nil`: there is none any more.
    func line() -> [UInt8]? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(received[..<end])
                received.removeFirst(end + 1)
                return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            }
            guard fill() else { return nil }
        }
    }

    /// So many bytes; `nil`: they do not come any more.
    func bytes(_ count: Int) -> [UInt8]? {
        while received.count < count { guard fill() else { return nil } }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    private func fill() -> Bool {
        guard isOpen else { return false }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count: Int
        if let tls {
            count = Int(SSL_read(tls, &buffer, Int32(buffer.count)))
        } else {
            count = recv(socket, &buffer, buffer.count, 0)
        }
        guard count > 0 else {
            isOpen = false
            return false
        }
        received += buffer[..<count]
        return true
    }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        var rest = bytes[...]
        while isOpen, !rest.isEmpty {
            let count = rest.withUnsafeBytes { rest -> Int in
                if let tls { return Int(SSL_write(tls, rest.baseAddress, Int32(rest.count))) }
                return send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { isOpen = false } else { rest = rest.dropFirst(count) }
        }
    }

    func close() {
        isOpen = false
        shutdown(socket, Int32(SHUT_RDWR))
    }
}
