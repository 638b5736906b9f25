internal import CTLS
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
    }

    let settings: Settings
    let state = Mutex(State())
    private let listener: Listener

    public var port: Int { listener.port }

    /// - Parameter port: 0: one that is free.
    public init(_ settings: Settings = Settings(), port: Int = 0) throws {
        self.settings = settings
        listener = try Listener(port: port)
        listener.start { [weak self] wire, number in
            guard let self else { return }
            // Threads may come here in another order than their connections came in.
            self.state.withLock { $0.connections = max($0.connections, number) }
            var conversation = MailConversation(wire, number: number, server: self)
            conversation.run()
        }
    }

    deinit { stop() }

    /// What was taken so far.
    public var mails: [Mail] { state.withLock { $0.mails } }

    /// Commands of all connections, in the order in which they came.
    public var steps: [String] { state.withLock { $0.steps } }

    public var connections: Int { state.withLock { $0.connections } }

    /// Hangs up on everybody; new connections are still taken.
    public func hangUp() { listener.hangUp() }

    /// Takes no connections any more.
    public func stop() { listener.stop() }

    /// The server's side of TLS. The caller frees it.
    func makeTLS() -> OpaquePointer? {
        guard let certificate = settings.certificate, let context = SSL_CTX_new(TLS_server_method()) else { return nil }
        SSL_CTX_use_certificate_chain_file(context, certificate.certificate)
        SSL_CTX_use_PrivateKey_file(context, certificate.key, SSL_FILETYPE_PEM)
        return context
    }
}
