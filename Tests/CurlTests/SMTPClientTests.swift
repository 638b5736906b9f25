import Synchronization
import TestPeers
import TestSupport
import Testing

@testable import Curl

/// Against a server of our own. Blocking calls are short, and made on a thread of their own.
@Suite struct SMTPClientTests {
    private let content = "Subject: x\r\n\r\nLine\r\n.dot\r\n..\r\nEnd\r\n"

    private func server(_ change: (inout MailServer.Settings) -> Void = { _ in }) throws -> MailServer {
        var settings = MailServer.Settings()
        change(&settings)
        return try MailServer(settings)
    }

    private func client(_ server: MailServer, _ change: (inout SMTPServer) -> Void = { _ in }) -> SMTPClient {
        var settings = SMTPServer(host: "127.0.0.1", port: server.port, security: .none, clientName: "client.test")
        change(&settings)
        return SMTPClient(settings)
    }

    private func submission(
        to recipient: String = "user@example.com", from sender: String = "sender@example.com",
        within time: Duration = .seconds(300)
    ) -> SMTPSubmission {
        SMTPSubmission(sender: sender, recipient: recipient, content: Array(content.utf8), deadline: .now + time)
    }

    private func send(_ submission: SMTPSubmission? = nil, by client: SMTPClient) async throws -> SMTPOutcome {
        let submission = submission ?? self.submission()
        return try await blocking { client.send(submission) }
    }

    // MARK: What arrives

    @Test func `a message arrives as it is`() async throws {
        let server = try server()
        #expect(try await send(by: client(server)) == .accepted)
        let mail = try #require(server.mails.first)
        #expect(mail.text == content)
        #expect(mail.sender == "sender@example.com")
        #expect(mail.recipients == ["user@example.com"])
        #expect(server.steps.first == "EHLO client.test")
        server.stop()
    }

    @Test func `a large message arrives whole`() async throws {
        let server = try server()
        var large = submission()
        large.content = Array(String(repeating: String(repeating: "x", count: 70) + "\r\n.\r\n", count: 4_000).utf8)
        #expect(try await send(large, by: client(server)) == .accepted)
        #expect(server.mails.first?.content == large.content)
        server.stop()
    }

    @Test func `one connection serves several messages`() async throws {
        let server = try server()
        let client = client(server)
        for _ in 0..<3 { #expect(try await send(by: client) == .accepted) }
        #expect(server.mails.map(\.connection) == [1, 1, 1])
        client.close()
        #expect(try await waitUntil { server.steps.last == "QUIT" })
        #expect(try await send(by: client) == .accepted)
        #expect(server.connections == 2)
        server.stop()
    }

    @Test func `a connection that the server has given up is replaced`() async throws {
        let server = try server()
        let client = client(server)
        #expect(try await send(by: client) == .accepted)
        server.hangUp()
        #expect(try await send(by: client) == .accepted)
        #expect(server.mails.count == 2)
        server.stop()
    }

    @Test func `a connection that ends with 421 is replaced`() async throws {
        let server = try server {
            $0.react = { step, connection in
                step.hasPrefix("MAIL") && connection == 1 && !Self.isFirst(step) ? .replyAndHangUp("421 4.4.2 idle") : nil
            }
        }
        let client = client(server)
        #expect(try await send(submission(from: "first@example.com"), by: client) == .accepted)
        #expect(try await send(by: client) == .accepted)
        #expect(server.mails.map(\.connection) == [1, 2])
        server.stop()
    }

    private static func isFirst(_ step: String) -> Bool { step.contains("<first@example.com>") }

    @Test func `several threads have a connection each`() async throws {
        let arrived = Atomic<Int>(0)
        let server = try server {
            $0.react = { step, _ in
                guard step.hasPrefix("RCPT") else { return nil }
                // Each waits for the others: with one connection this would never end.
                arrived.add(1, ordering: .sequentiallyConsistent)
                while arrived.load(ordering: .sequentiallyConsistent) < 3 { pause() }
                return nil
            }
        }
        let client = client(server)
        try await withThrowingTaskGroup(of: SMTPOutcome.self) { group in
            for _ in 0..<3 { group.addTask { try await send(by: client) } }
            for try await outcome in group { #expect(outcome == .accepted) }
        }
        #expect(server.connections == 3)
        server.stop()
    }

    // MARK: Refusals

    @Test(
        arguments: [
            ("greeting", "554 5.3.2 closed", .greeting, SMTPReply(554, "5.3.2")),
            ("MAIL", "451 4.3.0 later", .sender, SMTPReply(451, "4.3.0")),
            ("RCPT", "550 5.1.1 <user@example.com> unknown", .recipient, SMTPReply(550, "5.1.1")),
            ("RCPT", "450-4.2.1 first\r\n450 4.2.1 later", .recipient, SMTPReply(450, "4.2.1")),
            ("DATA", "452 4.3.1 full", .data, SMTPReply(452, "4.3.1")),
            ("content", "554 5.7.1 spam", .content, SMTPReply(554, "5.7.1")),
            ("content", "451 4.7.1 later", .content, SMTPReply(451, "4.7.1")),
        ] as [(String, String, SMTPStage, SMTPReply)])
    func `a refusal is told with its stage`(step: String, answer: String, stage: SMTPStage, reply: SMTPReply) async throws {
        let server = try server { $0.react = { came, _ in came.hasPrefix(step) ? .reply(answer) : nil } }
        #expect(try await send(by: client(server)) == .refused(reply, at: stage))
        #expect(server.mails.isEmpty)
        server.stop()
    }

    @Test func `after a refusal the next message goes through`() async throws {
        let server = try server { $0.react = { step, _ in step.contains("bad@") ? .reply("550 5.1.1 no") : nil } }
        let client = client(server)
        #expect(
            try await send(submission(to: "bad@example.com"), by: client) == .refused(SMTPReply(550, "5.1.1"), at: .recipient))
        #expect(try await send(by: client) == .accepted)
        server.stop()
    }

    // MARK: Connections that break

    @Test func `where nobody listens the server is unreachable`() async throws {
        let server = try server()
        server.stop()
        #expect(try await send(by: client(server)) == .failed(.unreachable))
        let unknown = SMTPClient(SMTPServer(host: "no-such-host.invalid", port: 25, security: .none))
        #expect(try await send(by: unknown) == .failed(.unreachable))
    }

    @Test(arguments: ["EHLO", "MAIL", "RCPT", "DATA"])
    func `a connection that breaks before the content has taken nothing`(step: String) async throws {
        let server = try server { $0.react = { came, _ in came.hasPrefix(step) ? .hangUp : nil } }
        #expect(try await send(by: client(server)) == .failed(.disconnected))
        server.stop()
    }

    @Test func `a connection that breaks after the content may have taken it`() async throws {
        let server = try server { $0.react = { step, _ in step == "content" ? .hangUp : nil } }
        #expect(try await send(by: client(server)) == .unknown)
        #expect(server.connections == 1)
        server.stop()
    }

    @Test func `also over a connection that was kept it is not sent a second time`() async throws {
        let contents = Atomic<Int>(0)
        let server = try server {
            $0.react = { step, _ in
                guard step == "content" else { return nil }
                return contents.add(1, ordering: .sequentiallyConsistent).newValue == 2 ? .hangUp : nil
            }
        }
        let client = client(server)
        #expect(try await send(by: client) == .accepted)
        #expect(try await send(by: client) == .unknown)
        #expect(contents.load(ordering: .sequentiallyConsistent) == 2)
        #expect(server.connections == 1)
        server.stop()
    }

    @Test(arguments: ["greeting", "MAIL", "DATA"])
    func `a server that does not answer is given up`(step: String) async throws {
        let server = try server { $0.react = { came, _ in came.hasPrefix(step) ? .silence : nil } }
        let client = client(server) {
            $0.connectTimeout = .milliseconds(500)
            $0.replyTimeout = .seconds(1)
        }
        #expect(try await send(by: client) == .failed(.timedOut))
        server.stop()
    }

    @Test func `when the last answer does not come, nobody knows`() async throws {
        let server = try server { $0.react = { step, _ in step == "content" ? .silence : nil } }
        #expect(try await send(by: client(server) { $0.replyTimeout = .seconds(1) }) == .unknown)
        server.stop()
    }

    @Test func `after its time a message is not handed over`() async throws {
        let server = try server()
        #expect(try await send(submission(within: .zero), by: client(server)) == .failed(.late))
        #expect(server.steps.last == "DATA" || server.steps.last == "QUIT")
        #expect(server.mails.isEmpty)
        server.stop()
    }

    // MARK: TLS

    @Test(arguments: [SMTPServer.Security.startTLS, .tls])
    func `over TLS a message and a password arrive`(security: SMTPServer.Security) async throws {
        let certificate = try TestCertificate()
        let server = try server {
            $0.certificate = certificate
            $0.isEncryptedAtOnce = security == .tls
            $0.user = ("user", "pass word")
        }
        let client = client(server) {
            $0.security = security
            $0.authorities = certificate.certificate
            $0.credentials = .init(user: "user") { "pass word" }
        }
        #expect(try await send(by: client) == .accepted)
        #expect(try await send(by: client) == .accepted)
        #expect(server.mails.map(\.isEncrypted) == [true, true])
        #expect(server.mails.first?.user == "user")
        #expect(server.connections == 1)
        client.close()
        server.stop()
    }

    @Test func `without STARTTLS nothing is sent`() async throws {
        let server = try server { $0.user = ("user", "secret") }
        let client = client(server) {
            $0.security = .startTLS
            $0.credentials = .init(user: "user") { "secret" }
        }
        #expect(try await send(by: client) == .failed(.insecure))
        #expect(!server.steps.contains { $0.hasPrefix("AUTH") || $0.hasPrefix("MAIL") })
        server.stop()
    }

    @Test func `a certificate that nobody vouches for, or for another name, is not accepted`() async throws {
        let certificate = try TestCertificate(for: "DNS:elsewhere.test")
        let server = try server {
            $0.certificate = certificate
            $0.isEncryptedAtOnce = true
        }
        #expect(try await send(by: client(server) { $0.security = .tls }) == .failed(.insecure))
        let other = client(server) {
            $0.security = .tls
            $0.authorities = certificate.certificate
        }
        #expect(try await send(by: other) == .failed(.insecure))
        #expect(server.mails.isEmpty)
        server.stop()
    }

    @Test func `a file of authorities that is not there is told as such`() async throws {
        let certificate = try TestCertificate()
        let server = try server {
            $0.certificate = certificate
            $0.isEncryptedAtOnce = true
        }
        let client = client(server) {
            $0.security = .tls
            $0.authorities = "/nonexistent.pem"
        }
        #expect(try await send(by: client) == .failed(.misconfigured))
        server.stop()
    }

    // MARK: Signing in

    @Test func `a wrong password is refused at the sign-in`() async throws {
        let server = try server { $0.user = ("user", "right") }
        let client = client(server) { $0.credentials = .init(user: "user") { "wrong" } }
        #expect(try await send(by: client) == .refused(SMTPReply(535, "5.7.8"), at: .signIn))
        server.stop()
    }

    @Test func `a server that knows no sign-in gets none`() async throws {
        let server = try server()
        let client = client(server) { $0.credentials = .init(user: "user") { "secret" } }
        #expect(try await send(by: client) == .accepted)
        #expect(!server.steps.contains { $0.hasPrefix("AUTH") })
        server.stop()
    }

    @Test func `a server that wants another sign-in is told from one that refuses`() async throws {
        let server = try server { $0.extensions = ["AUTH X-UNHEARD-OF"] }
        let client = client(server) { $0.credentials = .init(user: "user") { "secret" } }
        #expect(try await send(by: client) == .failed(.noSignIn))
        #expect(server.mails.isEmpty)
        server.stop()
    }

    // MARK: Addresses

    @Test(
        arguments: [
            "user@example.com>\r\nRCPT TO:<other@example.com", "user@example.com\r\nDATA", "a b@example.com", "user@",
            "@example.com",
            "user", "a@b@c", "<user@example.com>", "user@example.com\n", "user@exa\0mple.com",
            "user@example.com,other@example.com",
            "\"user\"@example.com",
        ])
    func `an address that could be more than one is not sent to`(recipient: String) async throws {
        let server = try server()
        #expect(try await send(submission(to: recipient), by: client(server)) == .failed(.addressInvalid))
        #expect(try await send(submission(from: recipient), by: client(server)) == .failed(.addressInvalid))
        #expect(server.connections == 0)
        server.stop()
    }

    @Test func `an address in another script goes where it is understood`() async throws {
        let server = try server()
        #expect(try await send(submission(to: "jörg@xn--bcher-kva.example"), by: client(server)) == .accepted)
        #expect(server.mails.first?.recipients == ["jörg@xn--bcher-kva.example"])
        #expect(server.mails.first?.parameters.contains("SMTPUTF8") == true)
        server.stop()

        let old = try self.server { $0.extensions = [] }
        #expect(try await send(submission(to: "jörg@xn--bcher-kva.example"), by: client(old)) == .failed(.addressUnsupported))
        #expect(old.mails.isEmpty)
        old.stop()
    }
}
