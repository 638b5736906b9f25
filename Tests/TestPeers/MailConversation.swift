internal import CTLS
internal import Foundation
internal import Synchronization

/// One connection of a mail server, from the greeting to its end.
struct MailConversation {
    private let wire: Wire
    private let number: Int
    private let server: MailServer
    private var sender: (address: String, parameters: String)?
    private var recipients: [String] = []
    private var user: String?

    init(_ wire: Wire, number: Int, server: MailServer) {
        self.wire = wire
        self.number = number
        self.server = server
    }

    mutating func run() {
        if server.settings.isEncryptedAtOnce, !startTLS() { return }
        answer("greeting", "220 mail.test ESMTP")
        while wire.isOpen, let line = wire.line() {
            let text = String(decoding: line, as: UTF8.self)
            server.state.withLock { $0.steps.append(text) }
            take(text)
        }
    }

    private func startTLS() -> Bool {
        guard let context = server.makeTLS() else { return false }
        defer { SSL_CTX_free(context) }
        return wire.encrypt(context)
    }

    /// Answers as the test wants it, or as usual, and then after `note`: who has the answer may look at once for what it led
    /// to. Returns whether it was as usual.
    @discardableResult
    private func answer(_ step: String, _ usual: String, note: () -> Void = {}) -> Bool {
        guard let reaction = server.settings.react(step, number) else {
            note()
            wire.write(usual + "\r\n")
            return true
        }
        switch reaction {
        case .reply(let text): wire.write(text + "\r\n")
        case .replyAndHangUp(let text):
            wire.write(text + "\r\n")
            wire.close()
        case .hangUp: wire.close()
        case .silence: while wire.line() != nil {}
        }
        return false
    }

    private mutating func take(_ line: String) {
        let verb = line.prefix { $0 != " " }.uppercased()
        switch verb {
        case "EHLO": answer(line, greeting)
        case "HELO": answer(line, "250 mail.test")
        case "STARTTLS":
            if answer(line, "220 2.0.0 go ahead"), !startTLS() { wire.close() }
        case "AUTH": signIn(line)
        case "MAIL":
            guard server.settings.user == nil || user != nil else { return reply("530 5.7.0 authentication required") }
            if answer(line, "250 2.1.0 ok") {
                let parts = line.dropFirst("MAIL FROM:<".count).split(separator: ">", maxSplits: 1)
                sender = (String(parts.first ?? ""), parts.count > 1 ? String(parts[1].dropFirst()) : "")
                recipients = []
            }
        case "RCPT":
            if answer(line, "250 2.1.5 ok") { recipients.append(String(line.dropFirst("RCPT TO:<".count).dropLast())) }
        case "DATA":
            if answer(line, "354 go on") { takeContent() }
        case "RSET": answer(line, "250 2.0.0 ok")
        case "QUIT":
            answer(line, "221 2.0.0 bye")
            wire.close()
        default: reply("502 5.5.2 unknown")
        }
    }

    private func reply(_ text: String) { wire.write(text + "\r\n") }

    private var greeting: String {
        var words = ["mail.test"] + server.settings.extensions
        if server.settings.certificate != nil, !wire.isEncrypted { words.append("STARTTLS") }
        if server.settings.user != nil { words.append("AUTH PLAIN LOGIN") }
        return words.enumerated().map { "250\($0.offset == words.count - 1 ? " " : "-")\($0.element)" }.joined(separator: "\r\n")
    }

    /// AUTH PLAIN (RFC 4616), with and without an initial response.
    private mutating func signIn(_ line: String) {
        var response = line.split(separator: " ").dropFirst(2).first.map(String.init)
        if response == nil {
            wire.write("334 \r\n")
            response = wire.line().map { String(decoding: $0, as: UTF8.self) }
        }
        let fields = Data(base64Encoded: response ?? "").map { $0.split(separator: 0, omittingEmptySubsequences: false) } ?? []
        let names = fields.map { String(decoding: $0, as: UTF8.self) }
        guard let (name, password) = server.settings.user, names.count == 3, names[1] == name, names[2] == password else {
            answer("sign-in", "535 5.7.8 authentication failed")
            return
        }
        if answer("sign-in", "235 2.7.0 welcome") { user = name }
    }

    private mutating func takeContent() {
        var content: [UInt8] = []
        while let line = wire.line() {
            if line == [UInt8(ascii: ".")] {
                let mail = MailServer.Mail(
                    sender: sender?.address ?? "", recipients: recipients, content: content, isEncrypted: wire.isEncrypted,
                    user: user, connection: number, parameters: sender?.parameters ?? "")
                answer("content", "250 2.0.0 taken") { server.state.withLock { $0.mails.append(mail) } }
                return
            }
            content += (line.first == UInt8(ascii: ".") ? line[1...] : line[...]) + Array("\r\n".utf8)
        }
    }
}
