import EventSchema
import HTTP
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import GatewayService

@Suite struct `Requests that hash a password` {
    /// Check workers that complete so many a second, one after the other, whoever asks; time passes as they are asked.
    private final class Workers: Sendable {
        private let state: Mutex<(now: ContinuousClock.Instant, free: ContinuousClock.Instant, accepted: Int)>
        let rate: Int

        init(rate: Int) {
            self.rate = rate
            let start = ContinuousClock.now
            state = Mutex((start, start, 0))
        }

        var now: ContinuousClock.Instant { state.withLock { $0.now } }
        var accepted: Int { state.withLock { $0.accepted } }

        /// When one that is asked for now is done.
        func accept() -> ContinuousClock.Instant {
            state.withLock { state in
                state.free = max(state.free, state.now) + .seconds(1) / rate
                state.accepted += 1
                return state.free
            }
        }

        func advance(to instant: ContinuousClock.Instant) { state.withLock { $0.now = max($0.now, instant) } }
    }

    /// Asks for as much as is let in, over and over, and gives how long what was let in last took.
    private func flood(_ work: PasswordWork, _ workers: Workers, rounds: Int) async throws -> [Duration] {
        var open: [(start: ContinuousClock.Instant, due: ContinuousClock.Instant, gate: Handoff<Bool>)] = []
        var took: [Duration] = []
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<rounds {
                // Until one is refused.
                while (try? work.check()) != nil {
                    let gate = Handoff<Bool>()
                    let began = Handoff<Bool>()
                    let start = workers.now
                    open.append((start, workers.accept(), gate))
                    group.addTask {
                        _ = try await work.ask {
                            began.resume(returning: true)
                            _ = await gate.value
                            return Reply(outcome: .invalidCredentials)
                        }
                    }
                    _ = await began.value
                }
                let first = open.removeFirst()
                workers.advance(to: first.due)
                took.append(first.start.duration(to: first.due))
                first.gate.resume(returning: true)
                _ = try await group.next()
            }
            for entry in open { entry.gate.resume(returning: true) }
            try await group.waitForAll()
        }
        return took
    }

    @Test(arguments: [8, 40, 400]) func `are let in as far as they complete soon`(rate: Int) async throws {
        let workers = Workers(rate: rate)
        let work = PasswordWork(metrics: Metrics(), now: { workers.now })
        let took = try await flood(work, workers, rounds: 600)
        let last = took.suffix(50)
        #expect(last.allSatisfy { $0 < .seconds(2) }, "\(last.max() ?? .zero)")
        // And no fewer than keep the workers busy.
        #expect(last.allSatisfy { $0 > .milliseconds(200) }, "\(last.min() ?? .zero)")
    }

    @Test func `that take long without being many say nothing of how many are possible`() async throws {
        let clock = Workers(rate: 1)
        let work = PasswordWork(metrics: Metrics(), now: { clock.now })
        for _ in 0..<100 {
            _ = try await work.ask {
                clock.advance(to: clock.now + .seconds(5))
                return Reply(outcome: .ok)
            }
        }
        let took = try await flood(work, clock, rounds: 1)
        #expect(took.count == 1 && clock.accepted == 32)
    }

    @Test func `are told to come back when there are too many, before anything is done`() async throws {
        let gateway = TestGateway()
        let gate = Gate()
        gateway.path.answer { _ in
            _ = try await waitUntil { gate.isOpen }
            return Reply(outcome: .invalidCredentials)
        }
        let form = #"{"email":"user@example.com","password":"wrong"}"#
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<60 { group.addTask { await gateway.post("/auth/login", form).status.rawValue } }
            for _ in 0..<28 {
                let refused = await group.next()
                #expect(refused == 503)
            }
            let asked = gateway.accounts.asked.count
            for path in ["/auth/login", "/auth/register", "/onboarding/session", "/auth/reset-password"] {
                let response = await gateway.post(path, form)
                #expect(response.status == .serviceUnavailable)
                #expect(response.headers["Retry-After"] == "1")
            }
            #expect(gateway.accounts.asked.count == asked)
            // What hashes nothing goes on.
            let other = await gateway.post("/auth/refresh", "{}")
            #expect(other.status == .badRequest)
            gate.open()
            let answered = await group.reduce(into: 0) { $0 += $1 == 401 ? 1 : 0 }
            #expect(answered == 32)
        }
        let last = await gateway.post("/auth/login", form)
        #expect(last.status == .unauthorized)
    }
}
