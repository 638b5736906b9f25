import Runtime
import Synchronization

/// Sends requests over one kept connection, on a thread of its own, so that tests may wait for answers without holding up
/// the server's handlers.
public final class SocketClient: Client {
    private let port: UInt16
    private let address: String
    private let timeout: Duration
    private let thread = BlockingPool(name: "http-client", threads: 1)
    private let kept = Mutex<SocketConnection?>(nil)

    /// - Parameter timeout: for each wait for bytes.
    public init(port: UInt16, address: String = "127.0.0.1", timeout: Duration = .seconds(10)) {
        self.port = port
        self.address = address
        self.timeout = timeout
    }

    deinit { thread.close() }

    public func send(_ request: ClientRequest) async throws -> ClientResponse {
        try await thread.run { [self] in try exchange(request) }
    }

    private func exchange(_ request: ClientRequest) throws -> ClientResponse {
        var connection = kept.withLock { $0.take() }
        if connection?.hasEnded == true { connection = nil }
        let open = try connection ?? SocketConnection(port: port, address: address, timeout: timeout)
        let response = try open.exchange(request)
        if !Headers.same(response.headers["Connection"] ?? "", "close") {
            kept.withLock { $0 = open }
        }
        return response
    }
}
