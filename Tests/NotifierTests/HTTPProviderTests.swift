import Crypto
import Curl
import EventSchema
import Foundation
import JSON
import Runtime
import TestPeers
import Testing

@testable import NotifierService

@Suite struct HTTPProviderTests {
    private static let threads = BlockingPool(name: "http-provider-tests", threads: 8)
    private let noon = Timestamp(milliseconds: 1_800_000_000_000)

    private func message(_ channel: Channel) -> OutgoingMessage {
        OutgoingMessage(
            id: .random(), channel: channel, recipient: channel == .email ? "user@example.com" : "+12025550148",
            purpose: channel == .email ? .emailVerification : .phoneVerification, locale: LanguageTag("de")!,
            subject: channel == .email ? "Dein Code" : nil, text: "Code & mehr: 012345 ä",
            html: channel == .email ? "<p>012345</p>" : nil,
            code: "012345", requestedAt: noon, expiresAt: noon + .minutes(5), time: noon + .seconds(10))
    }

    private func results(_ provider: any Provider, _ messages: [OutgoingMessage]) async throws -> [ProviderResult] {
        try await Self.threads.run {
            defer { provider.close() }
            return provider.deliver(messages)
        }
    }

    // MARK: Resend

    private func resend(_ server: CallServer, _ logger: Logger = .silent) -> ResendProvider {
        ResendProvider(
            key: Secret(Array("re_hush".utf8)), sender: MailAddress("Latchkey <no-reply@example.org>")!, address: server.address,
            logger: logger)
    }

    @Test func `Resend gets a message under a key of its own`() async throws {
        let server = try CallServer { _, _ in .answer(200, #"{"id":"0a1b"}"#) }
        let message = message(.email)
        #expect(
            try await results(resend(server), [message, message]) == [
                .delivered(providerID: "0a1b"), .delivered(providerID: "0a1b"),
            ])
        let call = try #require(server.calls.first)
        #expect(call.target == "POST /emails")
        #expect(call.headers["authorization"] == "Bearer re_hush")
        #expect(call.headers["idempotency-key"] == message.id.text)
        let body = try JSON.parse(call.body)
        #expect(body["from"] == "Latchkey <no-reply@example.org>")
        #expect(body["to"] == ["user@example.com"])
        #expect(body["subject"] == "Dein Code")
        #expect(body["text"] == "Code & mehr: 012345 ä")
        #expect(body["html"] == "<p>012345</p>")
        // A call that is made again has to be the same.
        #expect(server.calls.map(\.body) == [call.body, call.body])
        server.stop()
    }

    @Test(
        arguments: [
            (200, #"{"id":"x"}"#, nil, .delivered(providerID: "x")),
            (401, #"{"name":"missing_api_key"}"#, nil, .failed(.unauthorized)),
            (403, #"{"name":"validation_error"}"#, nil, .failed(.unauthorized)),
            (409, #"{"name":"invalid_idempotent_request"}"#, nil, .unknown),
            (409, #"{"name":"concurrent_idempotent_requests"}"#, nil, .unknown),
            (422, #"{"name":"missing_required_field"}"#, nil, .failed(.messageRefused)),
            (429, #"{"name":"rate_limit_exceeded"}"#, 3, .failed(.rateLimited, retryAfter: .seconds(3))),
            (429, #"{"name":"daily_quota_exceeded"}"#, nil, .failed(.quotaExceeded)),
            (500, #"{"name":"application_error"}"#, nil, .failed(.unavailable)), (502, "<html>", nil, .failed(.unavailable)),
        ] as [(Int, String, Int?, ProviderResult)])
    func `what Resend answers has one meaning`(status: Int, body: String, retryAfter: Int?, result: ProviderResult) {
        #expect(
            ResendProvider.result(of: .answered(.init(status: status, retryAfter: retryAfter, body: Array(body.utf8)))) == result)
    }

    // MARK: Twilio

    private func twilio(_ server: CallServer, _ origin: TwilioProvider.Origin = .number("+15005550006")) -> TwilioProvider {
        TwilioProvider(
            account: .init(sid: "AC1", user: "SK1", secret: Secret(Array("hush".utf8))), origin: origin, address: server.address,
            logger: .silent)
    }

    @Test func `Twilio gets a message with the time that it is good for`() async throws {
        let server = try CallServer { _, _ in .answer(201, #"{"sid":"SM1","status":"queued"}"#) }
        #expect(try await results(twilio(server), [message(.sms)]) == [.delivered(providerID: "SM1")])
        #expect(try await results(twilio(server, .messagingService("MG1")), [message(.sms)]) == [.delivered(providerID: "SM1")])
        let call = try #require(server.calls.first)
        #expect(call.target == "POST /2010-04-01/Accounts/AC1/Messages.json")
        #expect(call.headers["authorization"] == "Basic \(Data("SK1:hush".utf8).base64EncodedString())")
        #expect(call.headers["content-type"] == "application/x-www-form-urlencoded")
        #expect(
            call.text == "To=%2B12025550148&Body=Code%20%26%20mehr%3A%20012345%20%C3%A4&ValidityPeriod=290&From=%2B15005550006")
        #expect(server.calls.last?.text.hasSuffix("&MessagingServiceSid=MG1") == true)
        server.stop()
    }

    @Test(
        arguments: [
            (201, #"{"sid":"SM1"}"#, nil, .delivered(providerID: "SM1")), (401, #"{"code":20003}"#, nil, .failed(.unauthorized)),
            (404, #"{"code":20404}"#, nil, .failed(.notConfigured)), (400, #"{"code":21211}"#, nil, .failed(.recipientRefused)),
            (400, #"{"code":21610}"#, nil, .failed(.recipientRefused)), (400, #"{"code":21606}"#, nil, .failed(.notConfigured)),
            (400, #"{"code":21617}"#, nil, .failed(.messageRefused)),
            (429, #"{"code":20429}"#, 2, .failed(.rateLimited, retryAfter: .seconds(2))), (500, "", nil, .unknown),
            (503, "", nil, .failed(.unavailable)),
        ] as [(Int, String, Int?, ProviderResult)])
    func `what Twilio answers has one meaning`(status: Int, body: String, retryAfter: Int?, result: ProviderResult) {
        #expect(
            TwilioProvider.result(of: .answered(.init(status: status, retryAfter: retryAfter, body: Array(body.utf8)))) == result)
    }

    // MARK: Both

    @Test func `a call without an answer is unknown, and made once`() async throws {
        let server = try CallServer { _, _ in .hangUp }
        #expect(try await results(twilio(server), [message(.sms)]) == [.unknown])
        #expect(try await results(resend(server), [message(.email)]) == [.unknown])
        #expect(server.calls.count == 2)
        server.stop()
        #expect(try await results(twilio(server), [message(.sms)]) == [.failed(.unreachable)])
        #expect(try await results(resend(server), [message(.email)]) == [.failed(.unreachable)])
    }

    @Test func `neither keys nor recipients nor a provider's words stand in a log`() async throws {
        let server = try CallServer { _, _ in
            .answer(422, #"{"name":"validation_error","message":"user@example.com is no address"}"#)
        }
        let recorder = LogRecorder()
        let logger = Logger(service: "notifier", level: .debug, sink: recorder)
        #expect(try await results(resend(server, logger), [message(.email)]) == [.failed(.messageRefused)])
        #expect(recorder.text.contains("validation_error"))
        #expect(recorder.text.contains("422"))
        for secret in ["re_hush", "user@", "no address", "012345"] { #expect(!recorder.text.contains(secret)) }
        server.stop()
    }
}
