/// A mail server that messages are submitted to, and how.
public struct SMTPServer: Sendable {
    public enum Security: String, Sendable, CaseIterable {
        /// In the clear at first; without STARTTLS nothing is sent.
        case startTLS = "starttls"
        /// TLS from the first byte on.
        case tls
        /// In the clear.
        case none

        /// RFC 6409, RFC 8314 and RFC 5321.
        public var defaultPort: Int {
            switch self {
            case .startTLS: 587
            case .tls: 465
            case .none: 25
            }
        }
    }

    public struct Credentials: Sendable {
        public var user: String
        /// The password, which nothing here ever prints.
        let password: @Sendable () -> String

        public init(user: String, password: @escaping @Sendable () -> String) {
            self.user = user
            self.password = password
        }
    }

    /// Name or IP address; the server's certificate has to be for it.
    public var host: String
    public var port: Int
    public var security: Security
    public var credentials: Credentials?
    /// PEM file of the authorities whose certificates are accepted; `nil`: those of the system.
    public var authorities: String?
    /// What this client calls itself in EHLO: a domain, or an address in brackets.
    public var clientName: String
    /// How long a connection may take, from the name look-up to the end of the sign-in.
    public var connectTimeout: Duration
    /// How long each reply is waited for.
    public var replyTimeout: Duration

    public init(
        host: String, port: Int? = nil, security: Security = .startTLS, credentials: Credentials? = nil,
        authorities: String? = nil, clientName: String = "localhost", connectTimeout: Duration = .seconds(10),
        replyTimeout: Duration = .seconds(30)
    ) {
        self.host = host
        self.port = port ?? security.defaultPort
        self.security = security
        self.credentials = credentials
        self.authorities = authorities
        self.clientName = clientName
        self.connectTimeout = connectTimeout
        self.replyTimeout = replyTimeout
    }

    /// The path of curl's SMTP URLs is the client's name.
    var url: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return "\(security == .tls ? "smtps" : "smtp")://\(host):\(port)/\(clientName)"
    }
}
