import Crypto
import EventSchema
import HTTP
import JSON
import Testing

@testable import GatewayService

@Suite struct `An access token` {
    private let gateway = TestGateway()
    private let caller: Caller

    init() { caller = gateway.user() }

    @Test func `lets its user in`() async {
        gateway.path.answer { _ in TestGateway.signedIn }
        let response = await gateway.send(.get, "/auth/me", as: caller)
        #expect(response.status == .ok)
        #expect(response.json?["data"]?["user"]?["email"] == "user@example.com")
        #expect(gateway.asked(ReadUser.self)?.user == caller.user)
    }

    @Test func `of a session that has ended lets nobody in`() async {
        gateway.revocations.end(caller.session)
        #expect(await gateway.send(.get, "/auth/me", as: caller).status == .unauthorized)
        #expect(gateway.path.commands.isEmpty)
    }

    @Test(
        arguments: [
            ["iss": "https://elsewhere"], ["aud": "https://elsewhere"], ["exp": 1_799_999_999], ["sub": "x"], ["sid": nil],
            ["nbf": 1_900_000_000],
        ] as [JSONObject])
    func `for something else lets nobody in`(claims: JSONObject) async {
        let response = await gateway.send(.get, "/auth/me", token: gateway.tokens.access(caller, changing: claims))
        #expect(response.status == .unauthorized)
        #expect(response.headers["WWW-Authenticate"] == "Bearer")
    }

    @Test func `under an unknown key, or of another type, lets nobody in`() async {
        let forged = JSONWebToken.signed([:], type: "at+jwt", keyID: "one", by: .random(.es256))
        for token in [
            gateway.tokens.access(caller, keyID: "two"), gateway.tokens.access(caller, type: "JWT"), forged, "",
            gateway.tokens.access(caller) + "x",
        ] {
            #expect(await gateway.send(.get, "/auth/me", token: token).status == .unauthorized)
        }
    }

    @Test func `stands in one header, behind Bearer`() async {
        let token = gateway.tokens.access(caller)
        for headers: Headers in [[:], ["Authorization": "Basic \(token)"], ["Authorization": token]] {
            #expect(await gateway.client.send(.get("/api/auth/me", headers: headers)).status == .unauthorized)
        }
        gateway.path.answer { _ in TestGateway.signedIn }
        let response = await gateway.client.send(.get("/api/auth/me", headers: ["Authorization": "bearer \(token)"]))
        #expect(response.status == .ok)
    }

    @Test func `is checked with keys that are read once, and for unknown ones at a bounded rate`() async throws {
        let keys = TokenKeys(gateway.tokens, pause: .seconds(3_600))
        for _ in 0..<20 {
            #expect(try await keys.key("one") != nil)
            #expect(try await keys.key("two") == nil)
        }
        #expect(gateway.tokens.loadCount == 1)
        let eager = TokenKeys(gateway.tokens, pause: .zero)
        for _ in 0..<3 { #expect(try await eager.key("two") == nil) }
        #expect(gateway.tokens.loadCount == 4)
    }

    @Test func `can be checked by everybody`() async throws {
        let response = await gateway.client.send(.get("/.well-known/jwks.json"))
        #expect(response.headers["Cache-Control"] == "public, max-age=300")
        let key = try #require(response.json?["keys"]?.array?.first?.object)
        #expect(key["kid"] == "one" && key["d"] == nil)
        #expect(try VerificationKey(jwk: key) == gateway.tokens.signer.publicKey)
    }
}

@Suite struct `A user who is signed in` {
    private let gateway = TestGateway()
    private let caller: Caller

    init() { caller = gateway.user() }

    @Test func `changes the password, and the answer waits for the sessions that ended`() async throws {
        let other = SessionID.random()
        gateway.path.answer { _ in Reply(outcome: .ok, data: ["ended": [.string(other.text)]]) }
        let response = await gateway.send(
            .post, "/auth/change-password", #"{"currentPassword":"old","newPassword":"Correct-Horse-7"}"#, as: caller)
        #expect(response.text == #"{"success":true}"#)
        #expect(gateway.revocations.settled == [other])
        let check = try #require(gateway.asked(CheckPasswordChange.self))
        #expect(check.session == caller.session)
        #expect(gateway.keys.open(check.current, SealingContext.password(user: caller.user)) == "old")
        #expect(gateway.keys.open(check.new, SealingContext.newPassword(user: caller.user)) == "Correct-Horse-7")
    }

    @Test func `with a wrong password is told so without a 401`() async {
        gateway.path.answer { [caller] _ in
            Reply(outcome: .invalidCredentials, data: ["ended": [.string(caller.session.text)]])
        }
        for response in [
            await gateway.send(
                .post, "/auth/change-password", #"{"currentPassword":"old","newPassword":"Correct-Horse-7"}"#, as: caller),
            await gateway.send(.delete, "/auth/me", #"{"password":"old"}"#, as: caller),
        ] {
            #expect(response.status == .badRequest)
            #expect(response.code == "INVALID_CREDENTIALS")
        }
        #expect(gateway.revocations.settled == [caller.session, caller.session])
    }

    @Test func `changes the profile`() async {
        gateway.path.answer { _ in TestGateway.signedIn }
        let response = await gateway.send(.patch, "/auth/me", #"{"displayName":"Zoe"}"#, as: caller)
        #expect(response.json?["data"]?["user"]?["profile"] == ["displayName": "Zoe"])
        #expect(gateway.asked(CheckProfile.self)?.target == .user(caller.user))
    }

    @Test func `sees and ends sessions`() async {
        gateway.path.answer { _ in Reply(outcome: .ok, data: ["sessions": [["id": "s", "current": true]]]) }
        let list = await gateway.send(.get, "/auth/sessions", as: caller)
        #expect(list.text == #"{"success":true,"data":{"sessions":[{"id":"s","current":true}]}}"#)
        let session = SessionID.random()
        gateway.path.answer(.ok)
        #expect(await gateway.send(.delete, "/auth/sessions/\(session.text)", as: caller).text == #"{"success":true}"#)
        #expect(gateway.asked(EndSession.self)?.session == session)
        #expect(await gateway.send(.delete, "/auth/sessions/x", as: caller).status == .notFound)
        gateway.path.answer(.notFound)
        #expect(await gateway.send(.delete, "/auth/sessions/\(session.text)", as: caller).status == .notFound)
        gateway.path.answer(.ok)
        #expect(await gateway.send(.post, "/auth/logout", as: caller).status == .ok)
        #expect(gateway.asked(EndSession.self)?.session == caller.session)
        #expect(await gateway.send(.post, "/auth/logout-all", as: caller).status == .ok)
        #expect(gateway.asked(EndAllSessions.self)?.user == caller.user)
    }

    @Test func `is one at every endpoint`() async {
        let routes: [(HTTPMethod, String)] = [
            (.post, "/auth/logout-all"), (.get, "/auth/sessions"), (.delete, "/auth/sessions/x"), (.get, "/auth/me"),
            (.patch, "/auth/me"), (.delete, "/auth/me"), (.post, "/auth/change-password"), (.post, "/auth/logout"),
        ]
        for (method, path) in routes {
            let response = await gateway.client.send(ClientRequest(method, "/api" + path))
            #expect(response.status == .unauthorized, "\(path)")
            #expect(response.headers["WWW-Authenticate"] == "Bearer")
        }
    }
}
