import EventSchema
import HTTP
import JSON
import Runtime
import Testing

@testable import GatewayService

@Suite struct `A password reset` {
    private let gateway = TestGateway()

    private var token: ReferenceToken {
        let subject = gateway.subject("user@example.com")
        return gateway.routing.token(kind: .reset, reference: subject.bytes, for: subject.routingKey)
    }

    @Test func `begins with a code, for whatever address`() async throws {
        _ = gateway.user()
        for email in ["user@example.com", "nobody@example.com"] {
            let response = await gateway.post("/auth/forgot-password", #"{"email":"\#(email)"}"#)
            #expect(
                response.text
                    == #"{"success":true,"message":"If an account exists for that email, a reset code has been sent."}"#)
        }
        #expect(gateway.path.issued.map(\.decoy) == [false, true])
        #expect(gateway.path.issued.allSatisfy { $0.purpose == .passwordReset })
    }

    @Test func `goes on with a token for a right code, in both formats`() async throws {
        let account = AccountReference(user: gateway.user().user, credentialVersion: 1)
        gateway.path.answer { _ in Reply(outcome: .ok, data: ["expiresIn": 600, "resetToken": "t"]) }
        for response in [
            await gateway.post("/auth/verify-reset-code", #"{"email":"user@example.com","code":"123456"}"#),
            await gateway.confirm(#"{"identifier":"user@example.com","code":"123456","purpose":"password_reset"}"#),
        ] {
            #expect(response.text == #"{"success":true,"data":{"resetToken":"t","expiresIn":600}}"#)
        }
        #expect(gateway.path.confirmed.map(\.account) == [account, account])
    }

    @Test func `ends with the token`() async throws {
        let ended = SessionID.random()
        gateway.path.answer { _ in Reply(outcome: .ok, data: ["ended": [.string(ended.text)]]) }
        let token = token
        let response = await gateway.post(
            "/auth/reset-password", #"{"resetToken":"\#(token.text)","newPassword":"Correct-Horse-7"}"#)
        #expect(
            response.text == #"{"success":true,"message":"Password reset. Please log in with your new password."}"#)
        let command = try #require(gateway.asked(ConsumeResetToken.self))
        let subject = gateway.subject("user@example.com")
        #expect(command.subject == subject && command.digest == token.digest)
        #expect(gateway.keys.open(command.password, SealingContext.password(subject: subject)) == "Correct-Horse-7")
        #expect(gateway.revocations.settled == [ended])
    }

    @Test func `with a weak password costs no token`() async {
        let response = await gateway.post("/auth/reset-password", #"{"resetToken":"\#(token.text)","newPassword":"weak"}"#)
        #expect(Set(response.fields) == ["newPassword"])
        #expect(response.fields.count == 3)
        #expect(gateway.path.commands.isEmpty)
    }

    @Test func `with a token that is none or used is answered alike`() async {
        gateway.path.answer(.resetTokenInvalid)
        var answers: [ClientResponse] = []
        for text in [token.text, "junk", String(repeating: "A", count: 64)] {
            answers.append(
                await gateway.post(
                    "/auth/reset-password", #"{"resetToken":"\#(text)","newPassword":"Correct-Horse-7"}"#,
                    headers: ["X-Request-Id": "1"]))
        }
        #expect(answers[0].status == .badRequest)
        #expect(
            answers[0].text
                == #"{"success":false,"error":{"code":"RESET_TOKEN_INVALID","message":"Reset session expired. Start over."}}"#)
        #expect(Set(answers).count == 1)
    }

    @Test func `is limited at each step`() async {
        let gateway = TestGateway(
            rates: Dictionary(
                uniqueKeysWithValues: [Limit.forgotPassword, .verifyResetCode, .resetPassword].map {
                    ($0, Rate(1, per: .seconds(3_600)))
                }))
        for path in ["/auth/forgot-password", "/auth/verify-reset-code", "/auth/reset-password"] {
            #expect(await gateway.post(path).status == .badRequest)
            #expect(await gateway.post(path).status == .tooManyRequests)
        }
        #expect(await gateway.send(TestGateway.reset).status == .tooManyRequests)
    }
}
