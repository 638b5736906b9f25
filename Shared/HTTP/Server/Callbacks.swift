import CMicroHTTPD
import Glibc

// What libmicrohttpd calls, on the threads of its event loops. A context is the loop for callbacks of the daemon, and the
// connection where the library keeps one per socket.

/// One event loop of a server.
final class EventLoop: @unchecked Sendable {
    let core: ServerCore
    let index: Int
    /// Set once, before the first connection is handed over; guarded by that order, hence `@unchecked`.
    var daemon: OpaquePointer?

    init(core: ServerCore, index: Int) {
        self.core = core
        self.index = index
    }

    func start(memory: Int, _ certificate: Certificate?) -> Bool {
        var callbacks = latchkey_http_callbacks(
            handler: handleRequest, completed: requestCompleted, connection: connectionChanged, target: requestTarget,
            context: Unmanaged.passUnretained(self).toOpaque())
        daemon =
            if let certificate {
                certificate.chain.withUnsafeBytes { chain in
                    certificate.key.withUnsafeBytes { key in
                        latchkey_start_daemon(
                            &callbacks, memory, chain.bindMemory(to: CChar.self).baseAddress,
                            key.bindMemory(to: CChar.self).baseAddress)
                    }
                }
            } else {
                latchkey_start_daemon(&callbacks, memory, nil, nil)
            }
        return daemon != nil
    }
}

private func connection(_ handle: OpaquePointer?) -> Connection? {
    latchkey_connection_context(handle).map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
}

private func connectionChanged(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ change: MHD_ConnectionNotificationCode
) {
    guard let context, let handle, let slot else { return }
    switch change {
    case .CONNECTION_NOTIFY_STARTED:
        let loop = Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue()
        let connection = loop.core.connected(handle, socket: latchkey_connection_socket(handle), loop: loop.index)
        slot.pointee = Unmanaged.passRetained(connection).toOpaque()
    default:
        guard let pointer = slot.pointee else { return }
        slot.pointee = nil
        Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue().close()
    }
}

private func requestTarget(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    connection(handle)?.begin(target: target)
    return nil
}

private func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let connection = connection(handle), let method, let version, let size else { return .NO }
    return connection.handle(method, version, data, size)
}

private func requestCompleted(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ reason: MHD_RequestTerminationCode
) {
    connection(handle)?.complete()
}

/// Takes one header field for the reader that `context` is.
func takeHeader(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameLength: Int,
    _ value: UnsafePointer<CChar>?, _ valueLength: Int
) -> MHD_Result {
    guard let reader = context?.assumingMemoryBound(to: HeadReader.self), let name else { return .NO }
    reader.pointee.take(name, nameLength, value, valueLength)
    return .YES
}
