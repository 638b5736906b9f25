import Crypto
import EventSchema
import HTTP
import Synchronization
import Testing

@testable import GatewayService

@Suite struct `Answers that must not tell of accounts` {
    private static let bucket = BucketedTiming.bucket

    @Test func `leave when whole buckets are left of the request's time, as soon as that is`() {
        for _ in 0..<10_000 {
            let remaining = Duration.nanoseconds(Int64.random(in: 0...10_000_000_000))
            let wait = BucketedTiming.wait(remaining: remaining)
            #expect(wait >= .zero && wait < Self.bucket)
            let left = (remaining - wait) / Self.bucket
            #expect(left == left.rounded())
        }
        #expect(BucketedTiming.wait(remaining: .milliseconds(-1)) == .zero)
        #expect(BucketedTiming.wait(remaining: .milliseconds(-150)) == .zero)
    }

    private struct Step: Sendable {
        var path: String
        var body: String
        var headers: Headers = [:]
        /// Where the answer is held back: after a refusal, and where all went well.
        var refused: Bool
        var ok: Bool
    }

    private static let account = #""email":"user@example.com","password":"Correct-Horse-7""#
    private static let confirmReset = TestGateway.confirm.replacing("email_verification", with: "password_reset")
    private static let device: Headers = ["X-Device-Token": "any"]

    private static let steps = [
        Step(path: "/auth/login", body: "{\(account)}", refused: true, ok: false),
        Step(path: "/auth/forgot-password", body: #"{"email":"user@example.com"}"#, refused: true, ok: true),
        Step(path: "/verification/send", body: TestGateway.reset, refused: true, ok: true),
        Step(path: "/verification/send", body: TestGateway.send, refused: false, ok: false),
        Step(path: "/verification/send", body: TestGateway.send, headers: device, refused: true, ok: true),
        Step(path: "/auth/verify-reset-code", body: #"{"email":"user@example.com","code":"123456"}"#, refused: true, ok: false),
        Step(path: "/verification/confirm", body: confirmReset, refused: true, ok: false),
        Step(path: "/verification/confirm", body: TestGateway.confirm, refused: false, ok: false),
        Step(path: "/verification/confirm", body: TestGateway.confirm, headers: device, refused: true, ok: false),
        Step(path: "/onboarding/session", body: "{\(account)}", refused: true, ok: true),
        Step(path: "/auth/register", body: "{\(account)}", refused: true, ok: false),
    ]

    @Test func `wait for their time, and others do not`() async throws {
        for step in Self.steps {
            for (outcome, isHeld) in [(Reply.Outcome.invalidOTP, step.refused), (.ok, step.ok)] {
                let gateway = TestGateway()
                gateway.path.answer(Self.reply(outcome))
                _ = await gateway.post(step.path, step.body, headers: step.headers)
                let pauses = gateway.pauses.all
                #expect(pauses.count == (isHeld ? 1 : 0), "\(step.path) \(step.headers) \(outcome)")
                #expect(pauses.allSatisfy { $0 >= .zero && $0 < Self.bucket })
            }
        }
    }

    @Test func `wait for their time in an onboarding session`() async throws {
        for (outcome, isHeldAtTheEnd) in [(Reply.Outcome.forbidden, true), (.ok, false)] {
            let gateway = TestGateway()
            gateway.path.answer(Self.reply(outcome))
            let session = gateway.routing.onboardingSessionID(for: gateway.subject("user@example.com").routingKey)
            let token = gateway.tokens.onboarding(session)
            _ = await gateway.send(.patch, "/onboarding/session", #"{"displayName":"Zoe"}"#, token: token)
            #expect(gateway.pauses.all.count == 1)
            _ = await gateway.send(.post, "/onboarding/complete", "{}", token: token)
            #expect(gateway.pauses.all.count == (isHeldAtTheEnd ? 2 : 1))
        }
    }

    @Test func `wait once, however often they are decided anew`() async throws {
        for staleReplies in 0...3 {
            let gateway = TestGateway()
            let asked = Mutex(0)
            gateway.path.answer { _ in
                let number = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                return Reply(outcome: number <= staleReplies ? .stale : .invalidCredentials)
            }
            let response = await gateway.post("/auth/login", "{\(Self.account)}")
            #expect(response.status == (staleReplies < 3 ? .unauthorized : .serviceUnavailable))
            #expect(gateway.pauses.all.count == 1)
        }
    }

    private static func reply(_ outcome: Reply.Outcome) -> @Sendable (OutgoingCommand) -> Reply {
        { _ in
            var reply = TestGateway.signedIn
            reply.outcome = outcome
            return reply
        }
    }
}
