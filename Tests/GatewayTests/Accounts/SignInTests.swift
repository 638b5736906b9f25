import EventSchema
import HTTP
import JSON
import Runtime
import Testing

@testable import GatewayService

@Suite struct `A login` {
    private static let form = #"{"email":"user@example.com","password":"x"}"#

    @Test func `is answered with tokens and the user`() async throws {
        let gateway = TestGateway()
        gateway.path.answer { _ in TestGateway.signedIn }
        let response = await gateway.post("/auth/login", Self.form)
        #expect(response.status == .ok)
        #expect(response.text == #"{"success":true,"data":\#(TestGateway.signedInAnswer)}"#)
        let check = try #require(gateway.asked(CheckLogin.self))
        #expect(gateway.keys.open(check.password, SealingContext.password(subject: check.subject)) == "x")
        #expect(check.device == nil)
    }

    @Test func `from a device of the account says so, and the client keeps its token`() async throws {
        let gateway = TestGateway()
        let device = gateway.device(of: gateway.user())
        gateway.path.answer { _ in
            var reply = TestGateway.signedIn
            var data = reply.data?.object ?? [:]
            data["deviceToken"] = nil
            reply.data = .object(data)
            return reply
        }
        let response = await gateway.post("/auth/login", Self.form, headers: ["X-Device-Token": device])
        #expect(response.json?["data"]?["deviceToken"]?.string == device)
        #expect(gateway.asked(CheckLogin.self)?.device == ReferenceToken(device, kind: .device)?.digest)
    }

    @Test func `from another account's device is one from nowhere`() async {
        let gateway = TestGateway()
        let device = gateway.device(of: gateway.user("other@example.com"))
        gateway.path.answer { _ in TestGateway.signedIn }
        for headers: Headers in [["X-Device-Token": device], ["X-Device-Token": "junk"]] {
            _ = gateway.user()
            #expect(await gateway.post("/auth/login", Self.form, headers: headers).status == .ok)
            #expect(gateway.asked(CheckLogin.self)?.device == nil)
        }
    }

    @Test func `that fails is a 401, or a 429 for as long as Identity says`() async {
        let gateway = TestGateway()
        gateway.path.answer(.invalidCredentials)
        let wrong = await gateway.post("/auth/login", Self.form)
        #expect(wrong.status == .unauthorized)
        #expect(
            wrong.text == #"{"success":false,"error":{"code":"INVALID_CREDENTIALS","message":"Invalid e-mail or password."}}"#)
        #expect(wrong.headers["WWW-Authenticate"] == "Bearer")
        gateway.path.answer { _ in Reply(outcome: .rateLimited, data: ["retryAfter": 90]) }
        let blocked = await gateway.post("/auth/login", Self.form)
        #expect(blocked.status == .tooManyRequests)
        #expect(blocked.headers["Retry-After"] == "90")
        #expect(blocked.message == "Too many requests. Try again in 2 minutes.")
    }

    @Test func `is limited by address`() async {
        let gateway = TestGateway(rates: [.login: Rate(1, per: .seconds(900))])
        #expect(await gateway.post("/auth/login", "{}").fields == ["email", "password"])
        #expect(await gateway.post("/auth/login", Self.form).status == .tooManyRequests)
    }
}

@Suite struct `A refresh token` {
    private let gateway = TestGateway()
    private let session = SessionID.random()
    private let token: ReferenceToken

    init() {
        let key = gateway.subject("user@example.com").routingKey
        token = gateway.routing.token(kind: .refresh, reference: session.bytes, for: key)
    }

    @Test func `earns the next ones`() async throws {
        gateway.path.answer { _ in
            Reply(outcome: .ok, data: ["accessToken": "a", "refreshToken": "r", "expiresIn": 900])
        }
        let response = await gateway.post("/auth/refresh", #"{"refreshToken":"\#(token.text)"}"#)
        #expect(
            response.text
                == #"{"success":true,"data":{"accessToken":"a","refreshToken":"r","tokenType":"Bearer","expiresIn":900}}"#)
        let command = try #require(gateway.asked(RefreshSession.self))
        #expect(command.session == session && command.digest == token.digest)
        #expect(gateway.path.commands.first?.routingKey == gateway.subject("user@example.com").routingKey)
    }

    @Test(arguments: ["junk", "", String(repeating: "A", count: 64)]) func `that is none earns nothing`(text: String) async {
        for path in ["/auth/refresh", "/auth/logout"] {
            let response = await gateway.post(path, #"{"refreshToken":"\#(text)"}"#)
            #expect(response.status == .unauthorized)
            #expect(response.code == "REFRESH_TOKEN_INVALID")
        }
        #expect(gateway.path.commands.isEmpty)
    }

    @Test func `that was used is answered as one that is none`() async {
        gateway.path.answer(.refreshTokenInvalid)
        let used = await gateway.post("/auth/refresh", #"{"refreshToken":"\#(token.text)"}"#, headers: ["X-Request-Id": "1"])
        let none = await gateway.post("/auth/refresh", #"{"refreshToken":"junk"}"#, headers: ["X-Request-Id": "1"])
        #expect(used == none)
    }

    @Test func `ends its session where the access token is over`() async {
        let caller = gateway.user()
        gateway.path.answer { _ in Reply(outcome: .ok, data: ["ended": [.string(session.text)]]) }
        let late = gateway.tokens.access(caller, changing: ["exp": 1_000])
        let response = await gateway.send(
            .post, "/auth/logout", #"{"refreshToken":"\#(token.text)"}"#, token: late)
        #expect(response.text == #"{"success":true}"#)
        #expect(gateway.asked(EndSession.self)?.session == session)
        #expect(gateway.asked(EndSession.self)?.user == nil)
        #expect(gateway.revocations.settled == [session])
    }
}
