extension HTTPServer {
    public struct Configuration: Sendable {
        /// A literal IPv4 or IPv6 address; `::` takes both kinds.
        public var address = "127.0.0.1"
        /// 0 takes any free one.
        public var port: UInt16 = 0
        /// Event loops at the start, each on a thread of its own; at least 1. There is one more for every 120 connections
        /// that these have no room for.
        public var threads = HTTPServer.availableProcessors
        public var tls: TLS?
        public var connectionLimit = 4_096
        /// Per IPv4 address or IPv6 /64. Behind a proxy all connections come from one address: set it high enough there.
        public var connectionLimitPerAddress = 1_024
        /// Largest request line and header fields together, in bytes; past it 431.
        public var headerLimit = 8 * 1_024
        /// From the first byte of a connection, or of a later request's first line, to the end of the header fields.
        public var headerTimeout: Duration = .seconds(10)
        /// From the end of the header fields to the end of the body.
        public var bodyTimeout: Duration = .seconds(20)
        /// Between two requests on one connection.
        public var idleTimeout: Duration = .seconds(60)
        /// From the answer to its last byte in the kernel.
        public var writeTimeout: Duration = .seconds(30)
        /// How long `run` waits for requests in flight when it is asked to stop.
        public var drainDeadline: Duration = .seconds(10)

        public init(address: String = "127.0.0.1", port: UInt16 = 0) {
            self.address = address
            self.port = port
        }
    }

    /// Certificate chain and private key, as PEM files.
    public struct TLS: Sendable {
        public var certificateFile: String
        public var keyFile: String

        public init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }
}

/// Why a server does not start, in one line for an operator.
public enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    case invalidAddress(String)
    case portTaken(address: String, port: UInt16)
    case cannotListen(address: String, port: UInt16, reason: String)
    case unreadableFile(path: String, reason: String)
    /// The library does not accept the pair of certificate and key, or they do not belong together.
    case unusableCertificate(certificateFile: String, keyFile: String)
    case noEventLoop
    case alreadyStarted

    public var description: String {
        switch self {
        case .invalidAddress(let address): "cannot listen on '\(address)': not an IP address"
        case .portTaken(let address, let port): "port \(port) on \(address) is taken by another process"
        case .cannotListen(let address, let port, let reason): "cannot listen on \(address) port \(port): \(reason)"
        case .unreadableFile(let path, let reason): "cannot read \(path): \(reason)"
        case .unusableCertificate(let certificate, let key): "certificate \(certificate) with key \(key) cannot be used for TLS"
        case .noEventLoop: "the HTTP event loop cannot be started"
        case .alreadyStarted: "the HTTP server was started before"
        }
    }
}
