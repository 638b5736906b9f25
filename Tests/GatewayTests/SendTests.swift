import EventSchema
import HTTP
import JSON
import Runtime
import Testing

@testable import GatewayService

@Suite struct `A request for a code` {
    @Test func `is answered with the code's lifetime`() async {
        let gateway = TestGateway()
        let response = await gateway.send(TestGateway.send)
        #expect(response.status == .ok)
        #expect(response.text == #"{"success":true,"data":{"expiresIn":300}}"#)
    }

    @Test func `becomes a command about a pseudonym, the address sealed to the Notifier`() async throws {
        let gateway = TestGateway()
        _ = await gateway.send(#"{"channel":"email","identifier":" User@Example.COM ","purpose":"email_verification"}"#)
        let command = try #require(gateway.path.issued.first)
        let subject = gateway.subject("user@example.com")
        #expect(command.subject == subject)
        #expect(command.purpose == .emailVerification)
        #expect(command.channel == .email)
        #expect(!command.decoy && command.account == nil && !command.overDailyLimit)
        let opened = gateway.keys.open(
            command.recipient, SealingContext.recipient(subject: subject, purpose: .emailVerification))
        #expect(opened == "user@example.com")
        #expect(gateway.path.commands.first?.subject == subject)
    }

    @Test func `takes the language of the client along, and nothing else that its header may say`() async throws {
        let gateway = TestGateway()
        let cases: [(String?, String?)] = [
            (nil, nil), ("de-AT, de;q=0.8, en;q=0.5", "de-AT"), ("en;q=0.3, fr;q=0.9", "fr"), ("*", nil), ("", nil),
            ("de;q=0", nil), ("zh-Hant-TW", "zh-Hant-TW"), ("en-x-1202555", "en"), ("en-x-12025550148", nil),
            ("en-US-u-nu-arab", "en-US"),
            ("q=1", nil), ("de;q=nan", nil),
        ]
        for (header, _) in cases {
            _ = await gateway.send(TestGateway.send, headers: header.map { ["Accept-Language": $0] } ?? [:])
        }
        #expect(gateway.path.issued.map { $0.locale?.text } == cases.map(\.1))
    }

    @Test func `for a reset is a decoy unless there is an account`() async throws {
        let gateway = TestGateway()
        let account = AccountReference(
            user: gateway.routing.userID(for: gateway.subject("user@example.com").routingKey), credentialVersion: 3)
        let without = await gateway.send(TestGateway.reset)
        gateway.accounts.add(account, for: gateway.subject("user@example.com"))
        let with = await gateway.send(TestGateway.reset)
        #expect(gateway.path.issued.map(\.decoy) == [true, false])
        #expect(gateway.path.issued.map(\.account) == [nil, account])
        #expect(without.text == with.text && without.status == with.status)
        #expect(without.headers.map(\.name) == with.headers.map(\.name))
    }

    @Test func `for an address with an account says nothing of it where none is reset`() async throws {
        let gateway = TestGateway()
        let account = AccountReference(
            user: gateway.routing.userID(for: gateway.subject("user@example.com").routingKey), credentialVersion: 3)
        gateway.accounts.add(account, for: gateway.subject("user@example.com"))
        _ = await gateway.send(TestGateway.send)
        #expect(gateway.path.issued.first?.account == nil)
        #expect(gateway.path.issued.first?.decoy == false)
    }

    @Test func `looks the account up where a password is reset or a device presented`() async {
        let device: Headers = ["X-Device-Token": "any"]
        for (body, headers, isAsked) in [
            (TestGateway.send, [:], false), (TestGateway.send, device, true), (TestGateway.reset, [:], true),
        ] {
            let gateway = TestGateway()
            _ = await gateway.send(body, headers: headers)
            #expect(gateway.accounts.asked == (isAsked ? [gateway.subject("user@example.com")] : []))
        }
    }

    @Test func `past the budget of the day is marked and answered like the others`() async {
        let gateway = TestGateway(rates: [.dailySends: Rate(2, per: .seconds(86_400))])
        var answers: Set<String> = []
        for _ in 0..<3 { answers.insert(await gateway.send(TestGateway.send).text) }
        _ = await gateway.send(TestGateway.reset)
        #expect(answers.count == 1)
        #expect(gateway.path.issued.map(\.overDailyLimit) == [false, false, true, false])
    }

    @Test func `a device of the account has a budget of the day of its own, whatever strangers have sent`() async {
        let gateway = TestGateway(rates: [.dailySends: Rate(1, per: .seconds(86_400))])
        let own: Headers = ["X-Device-Token": gateway.device(of: gateway.user("user@example.com"))]
        let other: Headers = ["X-Device-Token": gateway.device(of: gateway.user("other@example.com"))]
        for headers in [[:], [:], own, other, own] { _ = await gateway.send(TestGateway.send, headers: headers) }
        #expect(gateway.path.issued.map(\.overDailyLimit) == [false, true, false, true, true])
        #expect(gateway.path.issued.map { $0.device != nil } == [false, false, true, false, true])
    }

    @Test func `cannot be sealed while the Notifier's key is unknown`() async {
        let gateway = TestGateway(keys: FakeKeys(without: [.notifier]))
        let response = await gateway.send(TestGateway.send)
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers["Retry-After"] == "1")
        #expect(gateway.path.commands.isEmpty)
    }

    @Test func `for a phone is refused while there is no SMS provider`() async {
        let body = #"{"channel":"sms","identifier":"+12025550148","purpose":"phone_verification"}"#
        let without = await TestGateway().send(body)
        #expect(without.status == .badRequest)
        #expect(without.fields == ["channel", "identifier", "purpose"])

        let gateway = TestGateway(channels: VerificationChannels(hasSMS: true))
        #expect(await gateway.send(body).status == .ok)
        #expect(gateway.path.issued.first?.channel == .sms)
        #expect(gateway.path.issued.first?.subject == gateway.routing.subject(kind: .phone, canonical: "+12025550148"))
    }

    /// Body → wrong fields, in the order of the contract.
    @Test(arguments: [
        (#"{}"#, ["channel", "identifier", "purpose"]),
        (#"{"channel":"email"}"#, ["identifier", "purpose"]),
        (#"{"channel":1,"identifier":[],"purpose":{}}"#, ["channel", "identifier", "purpose"]),
        (#"{"channel":null,"identifier":"user@example.com","purpose":"email_verification"}"#, ["channel"]),
        (#"{"channel":"EMAIL","identifier":"user@example.com","purpose":"email_verification"}"#, ["channel"]),
        (#"{"channel":"email","identifier":"user@example.com","purpose":"phone_verification"}"#, ["purpose"]),
        (#"{"channel":"email","identifier":"user@example.com","purpose":"anything"}"#, ["purpose"]),
        (#"{"channel":"email","identifier":"userexample.com","purpose":"email_verification"}"#, ["identifier"]),
        (#"{"channel":"email","identifier":"","purpose":"email_verification"}"#, ["identifier"]),
        (#"{"channel":"email","identifier":"user@example.com\u0000","purpose":"email_verification"}"#, ["identifier"]),
        (#"{"channel":"email","identifier":"us er@example.com","purpose":"x"}"#, ["identifier", "purpose"]),
        (#"{"purpose":"email_verification","identifier":"user@localhost"}"#, ["channel", "identifier"]),
    ])
    func `names every wrong field, in order`(body: String, fields: [String]) async {
        let gateway = TestGateway()
        let response = await gateway.send(body)
        #expect(response.status == .badRequest)
        #expect(response.code == "VALIDATION_ERROR")
        #expect(response.fields == fields)
        #expect(gateway.path.commands.isEmpty)
    }

    @Test func `with a channel that its purpose does not go with is refused`() async {
        let gateway = TestGateway(channels: VerificationChannels(hasSMS: true))
        let response = await gateway.send(#"{"channel":"sms","identifier":"+12025550148","purpose":"password_reset"}"#)
        #expect(response.fields == ["purpose"])
    }

    @Test func `with unknown fields is as good as one without`() async {
        let gateway = TestGateway()
        let response = await gateway.send(
            #"{"channel":"email","identifier":"user@example.com","purpose":"email_verification","more":[1,{"x":null}]}"#)
        #expect(response.status == .ok)
    }

    @Test func `carries the client's address and agent, and never its request id`() async throws {
        let gateway = TestGateway(peer: try #require(IPAddress("192.0.2.7")))
        _ = await gateway.send(
            TestGateway.send,
            headers: [
                "User-Agent": String(repeating: "ä", count: 400), "X-Request-Id": "12025550148",
                "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            ])
        let command = try #require(gateway.path.commands.first)
        #expect(command.client.address == IPAddress("192.0.2.7"))
        #expect(command.client.userAgent == String(repeating: "ä", count: 256))
        #expect(command.trace.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(command.trace.spanID != "b7ad6b7169203331")
    }
}
