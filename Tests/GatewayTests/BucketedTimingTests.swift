import Crypto
import EventSchema
import HTTP
import Runtime
import Synchronization
import Testing

@testable import GatewayService

@Suite struct `Answers that must not tell of accounts` {
    private static let step = EvenTiming.step
    private static let secret = Secret(Array(repeating: 9, count: 32))

    @Test func `leave when a whole number of steps and the phase are left of the request's time, and soon`() {
        for _ in 0..<10_000 {
            let remaining = Duration.nanoseconds(Int64.random(in: 0...10_000_000_000))
            let phase = Self.step * Double.random(in: 0..<1)
            let wait = EvenTiming.wait(remaining: remaining, phase: phase)
            #expect(wait >= .zero && wait <= min(Self.step, remaining))
            guard remaining >= phase else {
                #expect(wait == .zero)
                continue
            }
            let steps = (remaining - wait - phase) / Self.step
            #expect(abs(steps - steps.rounded()) < 1e-6)
        }
        #expect(EvenTiming.wait(remaining: .milliseconds(-1), phase: .zero) == .zero)
    }

    @Test func `have a phase that follows from what they are about and from the secret, and any`() throws {
        let timing = EvenTiming(FakePath(), secret: Self.secret)
        let other = EvenTiming(FakePath(), secret: Secret(Array(repeating: 8, count: 32)))
        let keys = (0..<400).map { Routing(secret: Self.secret).subject(kind: .email, canonical: "\($0)@example.com").routingKey }
        let phases = keys.map { timing.phase(of: $0) }
        #expect(phases == keys.map { EvenTiming(FakePath(), secret: Self.secret).phase(of: $0) })
        #expect(phases.allSatisfy { $0 >= .zero && $0 < Self.step })
        #expect(zip(phases, keys.map { other.phase(of: $0) }).allSatisfy { $0 != $1 })
        // Each tenth of a step has its share, 40 of 400: fewer than 10 would be five standard deviations away.
        for tenth in 0..<10 {
            #expect(phases.count { Int($0 / (Self.step / 10)) == tenth } > 10)
        }
    }

    @Test(arguments: [
        ("/auth/login", #"{"email":"user@example.com","password":"wrong"}"#, true, false),
        ("/auth/forgot-password", #"{"email":"user@example.com"}"#, true, true),
        ("/verification/send", TestGateway.reset, true, true),
        ("/verification/send", TestGateway.send, false, false),
        ("/auth/verify-reset-code", #"{"email":"user@example.com","code":"123456"}"#, true, false),
        (
            "/verification/confirm", TestGateway.confirm.replacing("email_verification", with: "password_reset"), true, false
        ),
        ("/verification/confirm", TestGateway.confirm, false, false),
        ("/onboarding/session", #"{"email":"user@example.com","password":"Correct-Horse-7"}"#, true, true),
        ("/auth/register", #"{"email":"user@example.com","password":"Correct-Horse-7"}"#, true, false),
    ])
    func `wait for their time`(path: String, body: String, waitsWhereRefused: Bool, waitsWhereOK: Bool) async {
        let gateway = TestGateway()
        for (outcome, waits) in [(Reply.Outcome.invalidOTP, waitsWhereRefused), (.ok, waitsWhereOK)] {
            gateway.path.answer { _ in
                var reply = TestGateway.signedIn
                reply.outcome = outcome
                return reply
            }
            _ = await gateway.post(path, body)
            let waited = Mutex(0)
            let timing = EvenTiming(gateway.path, secret: Self.secret) { duration in
                #expect(duration >= .zero && duration <= Self.step)
                waited.withLock { $0 += 1 }
            }
            for command in gateway.path.commands.suffix(1) { _ = try? await timing.reply(to: command) }
            #expect(waited.withLock { $0 } == (waits ? 1 : 0))
        }
    }

    @Test func `do not wait while they are still to be decided anew`() async throws {
        let gateway = TestGateway()
        gateway.path.answer(.stale)
        _ = await gateway.post("/auth/login", #"{"email":"user@example.com","password":"wrong"}"#)
        let timing = EvenTiming(gateway.path, secret: Self.secret) { _ in Issue.record("waited") }
        _ = try await timing.reply(to: try #require(gateway.path.commands.first))
    }
}
