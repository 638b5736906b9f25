import Crypto
import EventSchema
import HTTP
import JSON
import Testing

@testable import GatewayService

@Suite struct `An onboarding token` {
    private let gateway = TestGateway()
    private let session: OnboardingSessionID

    init() { session = gateway.routing.onboardingSessionID(for: gateway.subject("user@example.com").routingKey) }

    private static let known = Reply(
        outcome: .ok,
        data: [
            "session": ["id": "s", "status": "ACTIVE", "emailVerifiedAt": nil, "expiresAt": "2024-01-01T00:00:00.000Z"],
            "email": "user@example.com", "phoneNumber": nil, "profile": ["displayName": "Zoe"],
        ])
    private static let answer =
        #"{"success":true,"data":{"session":{"id":"s","status":"ACTIVE","email":"user@example.com","emailVerifiedAt":null,"#
        + #""expiresAt":"2024-01-01T00:00:00.000Z","profile":{"displayName":"Zoe"}}}}"#

    @Test func `reads its session`() async {
        gateway.path.answer { _ in Self.known }
        let response = await gateway.send(.get, "/onboarding/session", token: gateway.tokens.onboarding(session))
        #expect(response.text == Self.answer)
        #expect(gateway.asked(ReadOnboarding.self)?.session == session)
        #expect(gateway.path.commands.first?.routingKey == gateway.subject("user@example.com").routingKey)
    }

    @Test func `changes its profile`() async throws {
        gateway.path.answer { _ in Self.known }
        let token = gateway.tokens.onboarding(session)
        let response = await gateway.send(.patch, "/onboarding/session", #"{"displayName":null}"#, token: token)
        #expect(response.text == Self.answer)
        let check = try #require(gateway.asked(CheckProfile.self))
        #expect(check.target == .onboarding(session))
        let id = try #require(gateway.path.commands.first?.id)
        #expect(gateway.keys.open(check.patch, SealingContext.profile(in: id)) == #"{"displayName":null}"#)
    }

    @Test func `completes it`() async throws {
        gateway.path.answer { _ in TestGateway.signedIn }
        let token = gateway.tokens.onboarding(session)
        let response = await gateway.send(.post, "/onboarding/complete", token: token)
        #expect(response.status == .created)
        #expect(response.text == #"{"success":true,"data":\#(TestGateway.signedInAnswer)}"#)
        let check = try #require(gateway.asked(CheckCompletion.self))
        #expect(check.digest == Digest(of: Array(token.utf8)))
        #expect(gateway.keys.open(check.token, SealingContext.token(digest: check.digest)) == token)
        #expect(!check.proofRequired)
    }

    @Test func `says what is missing where a proof is required`() async throws {
        let gateway = TestGateway(proofRequired: true)
        gateway.path.answer(.forbidden)
        let response = await gateway.send(.post, "/onboarding/complete", token: gateway.tokens.onboarding(session))
        #expect(response.status == .forbidden)
        #expect(response.code == "FORBIDDEN")
        #expect(response.message == "Verify the e-mail address or phone number first.")
        #expect(try #require(gateway.asked(CheckCompletion.self)).proofRequired)
    }

    @Test(arguments: [
        (Reply.Outcome.unauthenticated, 401, "UNAUTHENTICATED"), (.onboardingCompleted, 409, "ONBOARDING_COMPLETED"),
        (.accountExists, 409, "ACCOUNT_EXISTS"),
    ])
    func `is answered as the contract says`(outcome: Reply.Outcome, status: Int, code: String) async {
        gateway.path.answer(outcome)
        let response = await gateway.send(.post, "/onboarding/complete", token: gateway.tokens.onboarding(session))
        #expect(response.status.rawValue == status)
        #expect(response.code == code)
        #expect(response.headers.contains("WWW-Authenticate") == (status == 401))
    }

    @Test func `is good for nothing else, and an access token not here`() async {
        let caller = gateway.user()
        for response in [
            await gateway.send(.get, "/auth/me", token: gateway.tokens.onboarding(session)),
            await gateway.send(.get, "/onboarding/session", as: caller),
            await gateway.send(.post, "/onboarding/complete", token: "nonsense"),
            await gateway.post("/onboarding/complete"),
        ] {
            #expect(response.status == .unauthorized)
            #expect(response.code == "UNAUTHENTICATED")
            #expect(response.headers["WWW-Authenticate"] == "Bearer")
        }
        #expect(gateway.path.commands.isEmpty)
    }
}
