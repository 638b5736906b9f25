import EventSchema
import HTTP
import Runtime
import Testing

@testable import GatewayService

/// What the gateway itself does must be the same for identifiers with and without an account; what the services do is theirs to
/// test.
@Suite struct `Whether there is an account` {
    @Test(arguments: [
        ("/verification/send", #"{"channel":"email","identifier":"$","purpose":"password_reset"}"#),
        ("/verification/send", #"{"channel":"email","identifier":"$","purpose":"email_verification"}"#),
        ("/verification/confirm", #"{"identifier":"$","code":"123456","purpose":"password_reset"}"#),
        ("/verification/confirm", #"{"identifier":"$","code":"123456","purpose":"email_verification"}"#),
        ("/auth/forgot-password", #"{"email":"$"}"#),
        ("/auth/verify-reset-code", #"{"email":"$","code":"123456"}"#),
        ("/auth/login", #"{"email":"$","password":"wrong"}"#),
        ("/onboarding/session", #"{"email":"$","password":"Correct-Horse-7"}"#),
        ("/auth/register", #"{"email":"$","password":"Correct-Horse-7"}"#),
    ])
    func `shows in nothing that the gateway does`(path: String, body: String) async throws {
        let gateway = TestGateway(
            rates: Dictionary(uniqueKeysWithValues: Limit.allCases.map { ($0, Rate(3, per: .seconds(3_600))) }))
        let device = gateway.device(of: gateway.user("known@example.com"))
        // Who knows the password of an account may see that there is one.
        for outcome in [path == "/auth/login" ? Reply.Outcome.rateLimited : .ok, .invalidOTP, .invalidCredentials] {
            gateway.path.answer(outcome)
            var seen: [[String]] = []
            for (email, peer) in [("known@example.com", "192.0.2.1"), ("nobody@example.com", "192.0.2.2")] {
                let client = InMemoryClient(gateway.application, peer: try #require(IPAddress(peer)))
                let before = (gateway.accounts.asked.count, gateway.devices.asked.count, gateway.path.commands.count)
                let pauses = gateway.pauses.all.count
                let response = await client.send(
                    .post(
                        "/api" + path, json: body.replacing("$", with: email),
                        headers: ["X-Request-Id": "1", "X-Device-Token": device]))
                let work = (
                    gateway.accounts.asked.count - before.0, gateway.devices.asked.count - before.1,
                    gateway.path.commands.dropFirst(before.2).map { "\(type(of: $0.message)) \($0.timing)" },
                    gateway.pauses.all.count - pauses
                )
                seen.append(
                    ["\(response.status)", response.text.replacing(email, with: "$")]
                        + response.headers.map { "\($0.name): \($0.value)" } + ["\(work)"])
            }
            #expect(seen[0] == seen[1])
        }
        // Both clients have come to the end of what they may do, at the same time.
        for (email, peer) in [("known@example.com", "192.0.2.1"), ("nobody@example.com", "192.0.2.2")] {
            let client = InMemoryClient(gateway.application, peer: try #require(IPAddress(peer)))
            let response = await client.send(.post("/api" + path, json: body.replacing("$", with: email)))
            #expect(response.status == .tooManyRequests)
        }
    }
}
