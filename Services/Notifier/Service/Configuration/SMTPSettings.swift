internal import Crypto
public import Curl
internal import Glibc
internal import Runtime

/// The mail server that e-mail is submitted to.
public struct SMTPSettings: Sendable {
    public let server: SMTPServer
    /// How many messages are on their way at once.
    public let connections: Int

    /// `nil`: no mail server is configured, or not well; then that is noted.
    init?(from settings: Settings, isDevelopment: Bool) {
        let host = settings.optional("SMTP_HOST", .host, "Mail server that e-mail is submitted to. ADMIN_EMAIL is the sender.")
        let port = settings.optional("SMTP_PORT", .port, "Its port; unset: 587 with starttls, 465 with tls, 25 with none.")
        let security: SMTPServer.Security = settings.value(
            "SMTP_TLS", .choice, default: .startTLS,
            "How mail gets there: starttls (and not without), tls from the first byte, or none, in the clear.")
        let user = settings.optional("SMTP_USER", .text, "Whom to sign in as. Unset: nobody.")
        let password = settings.optional("SMTP_PASSWORD", .secretText, "The password of SMTP_USER.")
        let authorities = settings.optional(
            "SMTP_CA_FILE", .text,
            "PEM file of the authorities that vouch for the server's certificate. Unset: those of the system.")
        let timeout = settings.value(
            "SMTP_TIMEOUT", .duration(.seconds(1)...(.seconds(600))), default: .seconds(30),
            "How long each reply of the mail server is waited for.")
        connections = settings.value(
            "SMTP_CONNECTIONS", .integer(1...64), default: 4, "How many messages go to the mail server at once.")

        let others = ["SMTP_PORT", "SMTP_TLS", "SMTP_USER", "SMTP_PASSWORD", "SMTP_CA_FILE", "SMTP_TIMEOUT", "SMTP_CONNECTIONS"]
        if !settings.isSet("SMTP_HOST"), let other = others.first(where: settings.isSet) {
            settings.fault("SMTP_HOST", "is not set, although \(other) is")
        }
        switch (settings.isSet("SMTP_USER"), settings.isSet("SMTP_PASSWORD")) {
        case (true, false): settings.fault("SMTP_PASSWORD", "is not set, although SMTP_USER is")
        case (false, true): settings.fault("SMTP_USER", "is not set, although SMTP_PASSWORD is")
        case (true, true) where security == .none && !isDevelopment:
            settings.fault("SMTP_TLS", "is none: SMTP_PASSWORD would be sent in the clear, which only development allows")
        case (true, true), (false, false): break
        }
        if let authorities, access(authorities, R_OK) != 0 {
            settings.fault("SMTP_CA_FILE", "names a file that cannot be read: \(String(cString: strerror(errno)))")
        }
        guard let host else { return nil }
        var credentials: SMTPServer.Credentials?
        if let user, let password {
            let secret = Secret(Array(password.utf8))
            credentials = .init(user: user) { secret.withBytes { String(decoding: $0, as: UTF8.self) } }
        }
        server = SMTPServer(
            host: host, port: port, security: security, credentials: credentials, authorities: authorities, replyTimeout: timeout)
    }
}

extension SettingType where Value == String {
    /// A domain name or an IP address.
    fileprivate static var host: SettingType {
        SettingType(
            expectation: "a domain name or an IP address", placeholder: "",
            parse: { text in
                let isHost = text.utf8.allSatisfy {
                    48...57 ~= $0 || 65...90 ~= $0 || 97...122 ~= $0 || [0x2d, 0x2e, 0x3a, 0x5f].contains($0)
                }
                return isHost && text.utf8.count <= 253 ? text : nil
            }, render: { $0 })
    }
}
