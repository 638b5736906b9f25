internal import Foundation
internal import Runtime
internal import Synchronization

/// Takes connections on this machine, each on a thread of its own.
final class Listener: Sendable {
    private struct State {
        var connections = 0
        var sockets: [Int: Int32] = [:]
        var isStopped = false
    }

    let port: Int
    private let listener: Int32
    private let state = Mutex(State())

    /// - Parameter port: 0: one that is free.
    init(port: Int = 0) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else {
            let code = errno
            close(listener)
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EADDRINUSE)
        }
        self.listener = listener
        self.port = Int(UInt16(bigEndian: address.sin_port))
        // Writing over TLS to a client that is gone must not end the tests.
        signal(SIGPIPE, SIG_IGN)
    }

    /// - Parameter serve: called for each connection, with its number from 1, on its thread.
    func start(_ serve: @escaping @Sendable (Wire, Int) -> Void) {
        OwnedThread.start(name: "listener") { [self] in
            while true {
                let socket = accept(listener, nil, nil)
                if socket < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard socket >= 0 else {
                    // Here and not in `stop`: a descriptor that is closed while this thread is on its way to it may be another
                    // listener's by then.
                    close(listener)
                    return
                }
                let number = state.withLock { state in
                    state.connections += 1
                    state.sockets[state.connections] = socket
                    return state.connections
                }
                OwnedThread.start(name: "connection-\(number)") { [self] in
                    let wire = Wire(socket: socket)
                    serve(wire, number)
                    // Before the descriptor is closed and may be another one's.
                    state.withLock { $0.sockets[number] = nil }
                    wire.close()
                }
            }
        }
    }

    /// Hangs up on everybody; new connections are still taken.
    func hangUp() {
        // Under the lock no descriptor becomes another one's.
        state.withLock { for socket in $0.sockets.values { shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    /// Takes no connections any more. The second time nothing happens.
    func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        hangUp()
    }
}
