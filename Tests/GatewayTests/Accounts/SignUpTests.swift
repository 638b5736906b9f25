import EventSchema
import HTTP
import JSON
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import GatewayService

@Suite struct `A sign-up` {
    private static let form = #"{"email":" USER@example.com","password":"Correct-Horse-7"}"#
    private static let started = Reply(
        outcome: .ok,
        data: [
            "session": ["id": "s", "status": "ACTIVE", "emailVerifiedAt": nil, "expiresAt": "2024-01-01T00:00:00.000Z"],
            "onboardingToken": "t",
        ])

    @Test func `starts an onboarding session`() async throws {
        let gateway = TestGateway()
        gateway.path.answer { _ in Self.started }
        let response = await gateway.post("/onboarding/session", Self.form)
        #expect(response.status == .created)
        #expect(
            response.text
                == #"{"success":true,"data":{"onboardingToken":"t","session":{"id":"s","status":"ACTIVE","#
                + #""email":"user@example.com","emailVerifiedAt":null,"expiresAt":"2024-01-01T00:00:00.000Z"}}}"#)
        let check = try #require(gateway.asked(CheckSignUp.self))
        let subject = gateway.subject("user@example.com")
        #expect(check.subject == subject && check.kind == .onboarding && check.channel == .email)
        #expect(gateway.keys.open(check.identifier, SealingContext.identifier(subject: subject)) == "user@example.com")
        #expect(gateway.keys.open(check.password, SealingContext.password(subject: subject)) == "Correct-Horse-7")
        #expect(check.confirmation == nil && check.profile == nil && !check.proofRequired)
    }

    @Test func `with a code confirms it first, and names that confirmation`() async throws {
        let gateway = TestGateway()
        gateway.path.answer { command in command.message is CheckSignUp ? Self.started : Reply(outcome: .ok) }
        let response = await gateway.post(
            "/onboarding/session", #"{"email":"user@example.com","password":"Correct-Horse-7","code":"123456"}"#)
        #expect(response.status == .created)
        #expect(gateway.path.commands.map { type(of: $0.message).type } == [.confirmCode, .checkSignUp])
        #expect(gateway.path.confirmed.first?.purpose == .emailVerification)
        #expect(gateway.asked(CheckSignUp.self)?.confirmation == gateway.path.commands.first?.id)
    }

    @Test func `keeps its code where there is no place for it`() async throws {
        let gateway = TestGateway()
        let gate = Gate()
        gateway.path.answer { command in
            if command.message is CheckSignUp { return TestGateway.signedIn }
            _ = try await waitUntil { gate.isOpen }
            return Reply(outcome: .ok)
        }
        let form = #"{"email":"user@example.com","password":"Correct-Horse-7","code":"123456"}"#
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<33 { group.addTask { await gateway.post("/auth/register", form).status.rawValue } }
            let first = await group.next()
            #expect(first == 503)
            gate.open()
            let others = await group.reduce(into: [Int]()) { $0.append($1) }
            #expect(others == Array(repeating: 201, count: 32))
        }
        #expect(gateway.path.confirmed.count == 32)
    }

    @Test(arguments: [Reply.Outcome.invalidOTP, .maxAttemptsExceeded])
    func `with a wrong code makes nothing`(outcome: Reply.Outcome) async {
        let gateway = TestGateway()
        gateway.path.answer(outcome)
        let response = await gateway.post(
            "/auth/register", #"{"email":"user@example.com","password":"Correct-Horse-7","code":"123456"}"#)
        #expect(response.status == .badRequest)
        #expect(response.code == outcome.rawValue)
        #expect(gateway.asked(CheckSignUp.self) == nil)
    }

    @Test func `registers and signs in`() async throws {
        let gateway = TestGateway()
        gateway.path.answer { _ in TestGateway.signedIn }
        let response = await gateway.post(
            "/auth/register",
            #"{"email":"user@example.com","password":"Correct-Horse-7","displayName":"Zoe","locale":null}"#)
        #expect(response.status == .created)
        #expect(response.text == #"{"success":true,"data":\#(TestGateway.signedInAnswer)}"#)
        let command = try #require(gateway.path.commands.first)
        let check = try #require(gateway.asked(CheckSignUp.self))
        #expect(check.kind == .register)
        let profile = try #require(check.profile)
        #expect(gateway.keys.open(profile, SealingContext.profile(in: command.id)) == #"{"displayName":"Zoe"}"#)
    }

    @Test(arguments: [
        (#"{}"#, ["email", "password"]), (#"{"email":"x","password":"Aa1"}"#, ["email", "password"]),
        (#"{"email":"user@example.com","phoneNumber":"+12025550148","password":"Correct-Horse-7"}"#, ["phoneNumber"]),
        (#"{"phoneNumber":"+12025550148","password":"Correct-Horse-7"}"#, ["phoneNumber"]),
        (#"{"email":"user@example.com","password":"Correct-Horse-7","code":"12"}"#, ["code"]),
        (#"{"email":"user@example.com","password":5,"code":6,"birthDate":7}"#, ["password", "code", "birthDate"]),
    ])
    func `has every wrong field, in order`(body: String, fields: [String]) async {
        let gateway = TestGateway()
        let response = await gateway.post("/auth/register", body)
        #expect(response.status == .badRequest)
        #expect(response.fields == fields)
        #expect(gateway.path.commands.isEmpty)
    }

    @Test func `of an account is told so, ten times an hour`() async {
        let gateway = TestGateway(rates: [.accountExists: Rate(10, per: .seconds(3_600))])
        gateway.path.answer(.accountExists)
        for _ in 0..<10 {
            let response = await gateway.post("/auth/register", Self.form)
            #expect(response.status == .conflict)
            #expect(response.code == "ACCOUNT_EXISTS")
        }
        gateway.path.answer { _ in Self.started }
        for path in ["/auth/register", "/onboarding/session"] {
            let response = await gateway.post(path, Self.form)
            #expect(response.status == .tooManyRequests)
            #expect(response.message == "Too many requests. Try again in 60 minutes.")
        }
    }

    @Test func `is limited by what was told of accounts before it counts as one`() async {
        let gateway = TestGateway(rates: [
            .accountExists: Rate(1, per: .seconds(3_600)), .signUp: Rate(2, per: .seconds(7_200)),
        ])
        gateway.path.answer(.accountExists)
        #expect(await gateway.post("/auth/register", Self.form).status == .conflict)
        // The sign-up, and what it was told.
        #expect(gateway.quotas.count == 2)
        #expect(await gateway.post("/auth/register", Self.form).status == .tooManyRequests)
        #expect(gateway.quotas.count == 2)

        gateway.quotas.now.withLock { $0 += 3_600_000 }
        gateway.path.answer { _ in Self.started }
        #expect(await gateway.post("/onboarding/session", Self.form).status == .created)
        #expect(await gateway.post("/onboarding/session", Self.form).status == .tooManyRequests)
    }

    @Test func `needs a code where a proof is required, unless a session waits for one`() async throws {
        let gateway = TestGateway(proofRequired: true)
        gateway.path.answer { _ in Self.started }
        let bare = await gateway.post("/auth/register", Self.form)
        #expect(bare.status == .badRequest)
        #expect(bare.fields == ["code"])
        #expect(gateway.path.commands.isEmpty)
        #expect(await gateway.post("/onboarding/session", Self.form).status == .created)
        #expect(try #require(gateway.asked(CheckSignUp.self)).proofRequired)
    }

    @Test func `is limited together with the other kind`() async {
        let gateway = TestGateway(rates: [.signUp: Rate(2, per: .seconds(3_600))])
        gateway.path.answer { _ in Self.started }
        #expect(await gateway.post("/onboarding/session", Self.form).status == .created)
        #expect(await gateway.post("/auth/register", "{}").status == .badRequest)
        #expect(await gateway.post("/auth/register", Self.form).status == .tooManyRequests)
    }

    @Test func `that is stale is made anew, three times at most`() async {
        let gateway = TestGateway()
        gateway.path.answer(.stale)
        let response = await gateway.post("/auth/register", Self.form, headers: ["Idempotency-Key": "k"])
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers["Retry-After"] == "1")
        #expect(Set(gateway.path.commands.map(\.id)).count == 3)
    }
}
