import TestPeers
import Testing

extension SystemTests {
    /// Codes that go to a mail server.
    @Suite struct MailTests {
        @Test func `with a mail server a code arrives as a mail, and not on the console`() async throws {
            let certificate = try TestCertificate()
            var settings = MailServer.Settings()
            settings.certificate = certificate
            settings.user = ("latchkey", "a long password")
            let server = try MailServer(settings)
            let system = try await LatchkeySystem.started([
                "SMTP_HOST": "127.0.0.1", "SMTP_PORT": "\(server.port)", "SMTP_USER": "latchkey",
                "SMTP_PASSWORD": "a long password", "SMTP_CA_FILE": certificate.certificate,
                "ADMIN_EMAIL": "Latchkey <no-reply@latchkey-test.example>",
            ])
            let visitor = Visitor(system)
            #expect(try await visitor.send().isSuccess)
            try await eventually("a mail arrives") { !server.mails.isEmpty }
            let mail = try #require(server.mails.first)
            #expect(mail.recipients == [visitor.email])
            #expect(mail.sender == "no-reply@latchkey-test.example")
            #expect(mail.isEncrypted)
            #expect(mail.user == "latchkey")
            let code = try #require(mail.text.firstMatch(of: /\r\n    (\d{6})\r\n/)?.1)
            #expect(try await visitor.confirm(String(code)).isSuccess)

            #expect(try system.deliveries(to: visitor.email).isEmpty)
            let logs = try await system.compose("logs", ["-n", "10000"])
            #expect(!logs.output.contains(visitor.email))
            #expect(!logs.output.contains("a long password"))
            try await system.end()
            server.stop()
        }

        @Test func `a mail server that is away for a while loses no code`() async throws {
            let server = try MailServer()
            let port = server.port
            server.stop()
            let system = try await LatchkeySystem.started([
                "SMTP_HOST": "127.0.0.1", "SMTP_PORT": "\(port)", "SMTP_TLS": "none",
                "ADMIN_EMAIL": "no-reply@latchkey-test.example",
            ])
            let visitor = Visitor(system)
            #expect(try await visitor.send().isSuccess)
            try await eventually("an attempt has failed") {
                try await system.sql("SELECT count(*) FROM notifier.sends WHERE status = 'waiting'") == ["1"]
            }
            let back = try MailServer(port: port)
            try await eventually("the mail arrives") { !back.mails.isEmpty }
            #expect(back.mails.count == 1)
            try await eventually("nothing is open") { try await system.sql("SELECT count(*) FROM notifier.sends") == ["0"] }
            try await system.end()
            back.stop()
        }
    }
}
