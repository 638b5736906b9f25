import Runtime

@testable import HTTP

/// A connection that a test writes to byte by byte. It blocks a thread of its own: if the tests blocked those of Swift's
/// pool, handlers that wait could never go on.
final class RawConnection: Sendable {
    private let thread = BlockingPool(name: "raw-connection", threads: 1)
    private let connection: SocketConnection

    init(port: UInt16, address: String = "127.0.0.1", timeout: Duration = .seconds(10)) async throws {
        connection = try await thread.run { try SocketConnection(port: port, address: address, timeout: timeout) }
    }

    deinit { thread.close() }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws { try await thread.run { [connection] in try connection.send(bytes) } }

    /// Sends the text and the end of this side.
    func sendAll(_ text: String) async throws {
        try await thread.run { [connection] in
            try connection.send(text)
            connection.endSending()
        }
    }

    /// Sends the bytes in pieces of a size.
    func send(_ bytes: [UInt8], pieces size: Int) async throws {
        try await thread.run { [connection] in
            for start in stride(from: 0, to: bytes.count, by: size) { try connection.send(Array(bytes[start...].prefix(size))) }
        }
    }

    func send(_ request: ClientRequest) async throws { try await thread.run { [connection] in try connection.send(request) } }

    func exchange(_ request: ClientRequest) async throws -> ClientResponse {
        try await thread.run { [connection] in try connection.exchange(request) }
    }

    func receive(toHead: Bool = false) async throws -> ClientResponse {
        try await thread.run { [connection] in try connection.receive(toHead: toHead) }
    }

    func receiveAny() async throws -> ClientResponse { try await thread.run { [connection] in try connection.receiveAny() } }

    /// Waits until the other side has closed.
    func isClosed() async throws -> Bool { try await thread.run { [connection] in connection.isClosed() } }
}
