import CMicroHTTPD
import Glibc

/// A TCP socket that accepts connections.
struct ListeningSocket: Sendable {
    let descriptor: Int32
    let port: UInt16

    private static let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)

    init(address text: String, port: UInt16) throws(HTTPServerError) {
        guard let address = IPAddress(text) else { throw .invalidAddress(text) }
        let socket = Glibc.socket(address.isV4 ? AF_INET : AF_INET6, ListeningSocket.kind, 0)
        guard socket >= 0 else { throw .cannotListen(address: text, port: port, reason: ListeningSocket.lastError) }
        // Connections of a process that ended a moment ago do not keep the port; another listener does.
        ListeningSocket.set(socket, SOL_SOCKET, SO_REUSEADDR, 1)
        if !address.isV4 { ListeningSocket.set(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY, address == .anyV6 ? 0 : 1) }
        let bound = address.withSocketAddress(port: port) { bind(socket, $0, $1) }
        guard bound == 0, listen(socket, 1_024) == 0 else {
            let failure = errno
            let reason = ListeningSocket.lastError
            close(socket)
            guard failure != EADDRINUSE else { throw .portTaken(address: text, port: port) }
            throw .cannotListen(address: text, port: port, reason: reason)
        }
        descriptor = socket
        var name = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        self.port = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(socket, $0, &length) }
            // The port stands at the same place for both families.
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
        }
    }

    private static var lastError: String { String(cString: strerror(errno)) }

    private static func set(_ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

extension IPAddress {
    static let anyV6 = IPAddress(high: 0, low: 0)

    /// From what the kernel says about a socket; `nil` for other families.
    init?(_ name: UnsafePointer<sockaddr_storage>) {
        switch Int32(name.pointee.ss_family) {
        case AF_INET:
            self.init(
                v4: name.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt32(bigEndian: $0.pointee.sin_addr.s_addr) })
        case AF_INET6:
            let halves = name.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
                    (
                        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                    )
                }
            }
            self.init(high: halves.0, low: halves.1)
        default: return nil
        }
    }

    func withSocketAddress<Value>(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        if isV4 {
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = UInt32(truncatingIfNeeded: high >> 32).bigEndian
            return withUnsafePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
            }
        }
        var name = sockaddr_in6()
        name.sin6_family = sa_family_t(AF_INET6)
        name.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &name.sin6_addr) { bytes in
            bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in6>.size)) }
        }
    }
}
