import Curl
import EventSchema
import Foundation
import NotifierDomain
import Runtime
import TestPeers
import TestSupport
import Testing

@testable import NotifierService

@Suite struct SMTPProviderTests {
    private static let threads = BlockingPool(name: "smtp-tests", threads: 8)
    private let noon = Timestamp(milliseconds: 1_800_000_000_000)

    private func message(to recipient: String = "user@example.com", lifetime: Interval = .minutes(5)) -> OutgoingMessage {
        OutgoingMessage(
            id: .random(), channel: .email, recipient: recipient, purpose: .emailVerification, locale: LanguageTag("de")!,
            subject: "Dein Bestätigungscode", text: "Code:\n\n    012345", html: "<p>012345</p>", code: "012345",
            requestedAt: noon,
            expiresAt: noon + .seconds(1) + lifetime, time: noon + .seconds(1))
    }

    private func result(_ server: MailServer, _ message: OutgoingMessage, logger: Logger = .silent) async throws
        -> ProviderResult?
    {
        let settings = try #require(Self.settings(server))
        let provider = SMTPProvider(settings, sender: MailAddress("Latchkey <no-reply@example.org>")!, logger: logger)
        return try await Self.threads.run {
            defer { provider.close() }
            return provider.deliver([message]).first
        }
    }

    static func settings(_ server: MailServer) -> SMTPSettings? {
        SMTPSettings(
            from: Settings(["SMTP_HOST": "127.0.0.1", "SMTP_PORT": "\(server.port)", "SMTP_TLS": "none"]), isDevelopment: true)
    }

    @Test func `a message is submitted`() async throws {
        let server = try MailServer()
        let message = message()
        #expect(try await result(server, message) == .delivered(providerID: nil))
        let mail = try #require(server.mails.first)
        #expect(mail.sender == "no-reply@example.org")
        #expect(mail.recipients == ["user@example.com"])
        #expect(server.steps.first == "EHLO example.org")
        #expect(mail.text.contains("\r\nMessage-ID: <\(message.id.text)@example.org>\r\n"))
        #expect(mail.text.contains("\r\nSubject: =?UTF-8?Q?Dein_Best=C3=A4tigungscode?=\r\n"))
        #expect(mail.text.contains("\r\n    012345\r\n"))
        #expect(mail.text.contains("\r\n<p>012345</p>\r\n"))
        server.stop()
    }

    @Test func `after its time it is not`() async throws {
        let server = try MailServer()
        #expect(try await result(server, message(lifetime: .zero)) == .failed(.timeout))
        #expect(server.mails.isEmpty)
        server.stop()
    }

    @Test func `what the server says of a recipient stands in no log`() async throws {
        var settings = MailServer.Settings()
        settings.react = { step, _ in
            step.hasPrefix("RCPT") ? .reply("550 5.1.1 <user@example.com>: no such user user@example.com") : nil
        }
        let server = try MailServer(settings)
        let recorder = LogRecorder()
        let message = message()
        #expect(
            try await result(server, message, logger: Logger(service: "notifier", level: .debug, sink: recorder))
                == .failed(.recipientRefused))
        let lines = recorder.text
        #expect(lines.contains("550 5.1.1"))
        #expect(lines.contains("recipient"))
        #expect(lines.contains(message.id.text))
        #expect(!lines.contains("user"))
        server.stop()
    }

    // MARK: What an outcome means

    @Test(
        arguments: [
            (.accepted, .delivered(providerID: nil)), (.unknown, .unknown),
            (.refused(SMTPReply(421, "4.3.2"), at: .recipient), .failed(.unavailable)),
            (.refused(SMTPReply(450, "4.2.1"), at: .recipient), .failed(.rateLimited)),
            (.refused(SMTPReply(451, "4.7.1"), at: .content), .failed(.unavailable)),
            (.refused(SMTPReply(454, "4.7.0"), at: .signIn), .failed(.unavailable)),
            (.refused(SMTPReply(535, "5.7.8"), at: .signIn), .failed(.unauthorized)),
            (.refused(SMTPReply(554), at: .greeting), .failed(.unauthorized)),
            (.refused(SMTPReply(553, "5.1.8"), at: .sender), .failed(.unauthorized)),
            (.refused(SMTPReply(550, "5.1.1"), at: .recipient), .failed(.recipientRefused)),
            (.refused(SMTPReply(554, "5.7.1"), at: .recipient), .failed(.unauthorized)),
            (.refused(SMTPReply(554, "5.6.0"), at: .content), .failed(.messageRefused)),
            (.failed(.unreachable), .failed(.unreachable)), (.failed(.timedOut), .failed(.timeout)),
            (.failed(.disconnected), .failed(.unreachable)), (.failed(.insecure), .failed(.unreachable)),
            (.failed(.noSignIn), .failed(.unauthorized)), (.failed(.addressUnsupported), .failed(.recipientRefused)),
            (.failed(.addressInvalid), .failed(.recipientRefused)), (.failed(.late), .failed(.timeout)),
            (.failed(.misconfigured), .failed(.notConfigured)),
        ] as [(SMTPOutcome, ProviderResult)])
    func `an outcome has one meaning`(outcome: SMTPOutcome, result: ProviderResult) {
        #expect(SMTPProvider.result(of: outcome) == result)
    }
}

extension ServiceTests {
    /// A notifier and a mail server.
    @Suite struct SMTPDeliveryTests {
        private let scene: NotifierScene

        init() throws { scene = try NotifierScene() }

        private func provider(_ server: MailServer, seconds: Int = 30) throws -> SMTPProvider {
            let settings = SMTPSettings(
                from: Settings([
                    "SMTP_HOST": "127.0.0.1", "SMTP_PORT": "\(server.port)", "SMTP_TLS": "none", "SMTP_TIMEOUT": "\(seconds)s",
                ]), isDevelopment: true)
            return SMTPProvider(try #require(settings), sender: MailAddress("no-reply@example.org")!, logger: .silent)
        }

        private func server(_ react: @escaping @Sendable (String, Int) -> MailServer.Reaction?) throws -> MailServer {
            var settings = MailServer.Settings()
            settings.react = react
            return try MailServer(settings)
        }

        @Test func `a code arrives once, as a mail`() async throws {
            let server = try MailServer()
            let instance = try scene.start([provider(server)])
            try scene.issue(1)
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(server.mails.map(\.recipients) == [["code1@example.com"]])
            #expect(server.mails.first?.text.contains(NotifierScene.code(1)) == true)
            #expect(try await waitUntil { try scene.sends().isEmpty })
            try await instance.stop()
            server.stop()
        }

        @Test func `a server that is busy is asked again`() async throws {
            let server = try self.server { step, connection in
                step == "greeting" && connection <= 2 ? .replyAndHangUp("421 4.3.2 busy") : nil
            }
            let instance = try scene.start([provider(server)], schedule: RetrySchedule(first: .milliseconds(10), attempts: 12))
            try scene.issue(1)
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(scene.count("delivery-failed") == 2)
            #expect(server.mails.count == 1)
            try await instance.stop()
            server.stop()
        }

        @Test func `an address that the server refuses is not tried again`() async throws {
            let server = try self.server { step, _ in step.hasPrefix("RCPT") ? .reply("550 5.1.1 no") : nil }
            let instance = try scene.start([provider(server)])
            try scene.issue(1)
            #expect(try await waitUntil { try scene.sends().map(\.status) == ["failed"] })
            #expect(try scene.sends().first?.reason == "recipient_refused")
            #expect(scene.events() == ["delivery-attempted", "delivery-failed"])
            try await instance.stop()
            server.stop()
        }

        @Test func `a message whose answer was lost is unknown and not sent again`() async throws {
            let server = try self.server { step, _ in step == "content" ? .hangUp : nil }
            let instance = try scene.start([provider(server)])
            try scene.issue(1)
            #expect(try await waitUntil { try scene.sends().map(\.status) == ["unknown"] })
            #expect(server.steps.filter { $0 == "DATA" }.count == 1)
            #expect(scene.events() == ["delivery-attempted", "delivery-unknown"])
            try await instance.stop()
            server.stop()
        }

        @Test func `where one mail server is away another one delivers`() async throws {
            let away = ScriptedProvider("resend", removesDoubles: true) { $0.map { _ in .failed(.unavailable) } }
            let server = try MailServer()
            let instance = try scene.start([away, provider(server)])
            try scene.issue(1)
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(away.calls.count == 1)
            #expect(server.mails.count == 1)
            try await instance.stop()
            server.stop()
        }
    }
}
