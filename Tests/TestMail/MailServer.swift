internal import CTLS
internal import Foundation
internal import Runtime
internal import Synchronization

/// A mail server on this machine that does what a test says, and keeps what it was given.
public final class MailServer: Sendable {
    /// What it does instead of the usual.
    public enum Reaction: Sendable {
        /// Answers this: whole lines without their ends.
        case reply(String)
        /// Answers, and hangs up.
        case replyAndHangUp(String)
        case hangUp
        /// Says nothing, and waits until the client is gone.
        case silence
    }

    public struct Mail: Sendable {
        public var sender: String
        public var recipients: [String]
        /// As it was before transport: lines ended by CR LF.
        public var content: [UInt8]
        public var isEncrypted: Bool
        public var user: String?
        /// Which connection it came over, from 1.
        public var connection: Int
        /// Parameters behind the sender's address.
        public var parameters: String

        public var text: String { String(decoding: content, as: UTF8.self) }
    }

    public struct Settings: Sendable {
        /// The only one who may send, if there is one.
        public var user: (name: String, password: String)?
        public var certificate: TestCertificate?
        /// TLS from the first byte on, instead of STARTTLS.
        public var isEncryptedAtOnce = false
        public var extensions = ["PIPELINING", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"]
        /// Asked for each step of a connection: `greeting`, each command as it came, `content` after the end of a message.
        public var react: @Sendable (_ step: String, _ connection: Int) -> Reaction? = { _, _ in nil }

        public init() {}
    }

    struct State {
        var mails: [Mail] = []
        var steps: [String] = []
        var connections = 0
        var sockets: [Int: Int32] = [:]
        var isStopped = false
    }

    public let port: Int
    let settings: Settings
    let state = Mutex(State())
    private let listener: Int32

    /// - Parameter port: 0: one that is free.
    public init(_ settings: Settings = Settings(), port: Int = 0) throws {
        self.settings = settings
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRINUSE) }
        self.port = Int(UInt16(bigEndian: address.sin_port))
        // Writing to a client that is gone over TLS must not end the tests.
        signal(SIGPIPE, SIG_IGN)
        OwnedThread.start(name: "mail-server") { [weak self, listener] in
            while true {
                let socket = accept(listener, nil, nil)
                if socket < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard socket >= 0 else { return }
                guard let self else {
                    close(socket)
                    return
                }
                self.serve(socket)
            }
        }
    }

    deinit { stop() }

    /// What was taken so far.
    public var mails: [Mail] { state.withLock { $0.mails } }

    /// Commands of all connections, in the order in which they came.
    public var steps: [String] { state.withLock { $0.steps } }

    public var connections: Int { state.withLock { $0.connections } }

    /// Hangs up on everybody; new connections are still taken.
    public func hangUp() {
        // Under the lock no descriptor becomes another one's.
        state.withLock { for socket in $0.sockets.values { shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    /// Takes no connections any more.
    public func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        hangUp()
    }

    private func serve(_ socket: Int32) {
        let number = state.withLock { state in
            state.connections += 1
            state.sockets[state.connections] = socket
            return state.connections
        }
        OwnedThread.start(name: "mail-\(number)") { [self] in
            var conversation = MailConversation(MailWire(socket: socket), number: number, server: self)
            conversation.run()
        }
    }

    /// Before the descriptor is closed and may be another one's.
    func ended(_ number: Int) { state.withLock { $0.sockets[number] = nil } }

    /// The server's side of TLS. The caller frees it.
    func makeTLS() -> OpaquePointer? {
        guard let certificate = settings.certificate, let context = SSL_CTX_new(TLS_server_method()) else { return nil }
        SSL_CTX_use_certificate_chain_file(context, certificate.certificate)
        SSL_CTX_use_PrivateKey_file(context, certificate.key, SSL_FILETYPE_PEM)
        return context
    }
}
