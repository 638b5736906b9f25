import EventSchema
import HTTP
import JSON
import Runtime
import Testing

@testable import GatewayService

@Suite struct `A code that is confirmed` {
    @Test func `is answered with success and nothing else`() async {
        let response = await TestGateway().confirm(TestGateway.confirm)
        #expect(response.status == .ok)
        #expect(response.text == #"{"success":true}"#)
    }

    @Test func `goes to Verification sealed`() async throws {
        let gateway = TestGateway()
        _ = await gateway.confirm(#"{"identifier":"USER@example.com","code":" 012345\t","purpose":"email_verification"}"#)
        let command = try #require(gateway.path.confirmed.first)
        #expect(command.subject == gateway.subject("user@example.com"))
        let context = SealingContext.submission(subject: command.subject, purpose: .emailVerification)
        #expect(gateway.keys.open(command.code, context) == "012345")
    }

    /// Outcome → status, code, message.
    @Test(arguments: [
        (Reply.Outcome.invalidOTP, 400, "INVALID_OTP", "Invalid or expired verification code."),
        (.maxAttemptsExceeded, 400, "MAX_ATTEMPTS_EXCEEDED", "Too many wrong codes. Request a new one."),
        (Reply.Outcome(rawValue: "SOMETHING_NEW"), 500, "INTERNAL_ERROR", "Something went wrong."),
    ])
    func `is answered as the contract says`(outcome: Reply.Outcome, status: Int, code: String, message: String) async {
        let gateway = TestGateway()
        gateway.path.answer(outcome)
        let response = await gateway.confirm(TestGateway.confirm)
        #expect(response.status.rawValue == status)
        #expect(response.text == #"{"success":false,"error":{"code":"\#(code)","message":"\#(message)"}}"#)
    }

    /// A malformed code costs no attempt: nothing is sent.
    @Test(arguments: [
        "12345", "1234567", "12345a", "１２３４５６", "12 3456", "", "      ", "-12345", "+12345", "123456\\u0000", "٠١٢٣٤٥",
    ])
    func `is exactly six ASCII digits`(code: String) async {
        let gateway = TestGateway()
        let response = await gateway.confirm(
            #"{"identifier":"user@example.com","code":"\#(code)","purpose":"email_verification"}"#)
        #expect(response.status == .badRequest)
        #expect(response.code == "VALIDATION_ERROR")
        #expect(response.fields == ["code"])
        #expect(gateway.path.commands.isEmpty)
    }

    @Test(arguments: [
        (#"{}"#, ["identifier", "code", "purpose"]),
        (#"{"identifier":"user@example.com","code":123456,"purpose":"email_verification"}"#, ["code"]),
        (#"{"purpose":"phone_verification","code":"1","identifier":"x"}"#, ["identifier", "code", "purpose"]),
        (#"{"identifier":"user@example.com","code":"123456"}"#, ["purpose"]),
    ])
    func `comes with every wrong field, in order`(body: String, fields: [String]) async {
        let response = await TestGateway().confirm(body)
        #expect(response.status == .badRequest)
        #expect(response.fields == fields)
    }

    @Test func `of a phone is read as a phone's where there is an SMS provider`() async {
        let gateway = TestGateway(channels: VerificationChannels(hasSMS: true))
        let response = await gateway.confirm(
            #"{"identifier":"+1 (202) 555-0148","code":"123456","purpose":"phone_verification"}"#)
        #expect(response.status == .ok)
        #expect(gateway.path.confirmed.first?.subject == gateway.routing.subject(kind: .phone, canonical: "+12025550148"))
    }

    @Test func `cannot be sealed while Verification's key is unknown`() async {
        let response = await TestGateway(keys: FakeKeys(without: [.verification])).confirm(TestGateway.confirm)
        #expect(response.status == .serviceUnavailable)
    }
}
