import Crypto
import EventSchema
import NotifierDomain
import Synchronization
import TestSupport
import Testing

@testable import NotifierService

@Suite struct ProviderLineTests {
    private let noon = Timestamp(milliseconds: 1_800_000_000_000)
    private let sealing = SealedCodes()
    private let verdicts = Verdicts()

    private final class Verdicts: Sendable {
        private let all = Mutex<[MessageID: [ProviderLine.Verdict]]>([:])

        func add(_ verdict: ProviderLine.Verdict, for send: MessageID) { all.withLock { $0[send, default: []].append(verdict) } }
        subscript(_ send: MessageID) -> [ProviderLine.Verdict] { all.withLock { $0[send] ?? [] } }
        var count: Int { all.withLock { $0.values.reduce(0) { $0 + $1.count } } }
    }

    private func line(_ provider: any Provider, breaker: CircuitBreaker = CircuitBreaker(), at now: Timestamp? = nil) throws
        -> ProviderLine
    {
        let now = now ?? noon + .seconds(1)
        let composer = MessageComposer(opener: sealing.opener, templates: try MessageTemplates())
        let verdicts = verdicts
        return ProviderLine(
            provider, composer: composer, breaker: breaker, clock: { now },
            report: { job, verdict in verdicts.add(verdict, for: job.attempt.send) })
    }

    /// What becomes of one job.
    private func verdict(
        _ provider: any Provider, _ attempt: DeliveryAttempted, isRepeat: Bool = false, at now: Timestamp? = nil
    ) async throws -> ProviderLine.Verdict? {
        let line = try line(provider, at: now)
        line.start()
        defer { line.close() }
        line.send(.init(attempt: attempt, isRepeat: isRepeat))
        return try await waitUntil { verdicts[attempt.send].first }
    }

    private func attempt() throws -> DeliveryAttempted { try sealing.attempt(requestedAt: noon) }

    @Test func `a message is opened, filled in and handed over`() async throws {
        let provider = ScriptedProvider { _ in [.delivered(providerID: "m-1")] }
        let attempt = try attempt()
        #expect(try await verdict(provider, attempt) == .concluded(.delivered(providerID: "m-1")))
        let message = try #require(provider.calls.first?.first)
        #expect(message.recipient == SealedCodes.recipient)
        #expect(message.code == SealedCodes.code)
        #expect(message.text.contains(SealedCodes.code))
        #expect(message.text.contains("5 min."))
        #expect(message.id == attempt.send)
        #expect(message.time == noon + .seconds(1))
    }

    @Test func `after its time nothing is sent`() async throws {
        let provider = ScriptedProvider()
        #expect(try await verdict(provider, attempt(), at: noon + .minutes(5)) == .concluded(.expired))
        #expect(provider.calls.isEmpty)
    }

    @Test func `what was sealed for something else cannot be sent`() async throws {
        var attempt = try attempt()
        attempt.subject = Subject(bytes: [UInt8](repeating: 99, count: 16))!
        #expect(try await verdict(ScriptedProvider(), attempt) == .concluded(.expired))
        attempt.code = nil
        #expect(try await verdict(ScriptedProvider(), attempt) == .concluded(.expired))
    }

    @Test func `a message waits for a key that is not held yet`() async throws {
        let attempt = try SealedCodes().attempt(requestedAt: noon)
        #expect(try await verdict(ScriptedProvider(), attempt) == .postponed)
        #expect(
            try await verdict(ScriptedProvider(), SealedCodes().attempt(requestedAt: noon), at: noon + .minutes(5))
                == .concluded(.expired))
    }

    @Test(
        arguments: [
            (.delivered(providerID: nil), .concluded(.delivered(providerID: nil))),
            (.failed(.rateLimited, retryAfter: .seconds(7)), .concluded(.failed(.rateLimited, retryAfter: .seconds(7)))),
            (.unknown, .concluded(.unknown)),
        ] as [(ProviderResult, ProviderLine.Verdict)])
    func `a provider's word on a first attempt counts`(result: ProviderResult, expected: ProviderLine.Verdict) async throws {
        #expect(try await verdict(ScriptedProvider { _ in [result] }, attempt()) == expected)
    }

    @Test func `where doubles are removed, what may have been taken is handed over again`() async throws {
        #expect(try await verdict(ScriptedProvider(removesDoubles: true) { _ in [.unknown] }, attempt()) == .unsure)
    }

    // MARK: Repeats

    @Test func `an attempt without an outcome is not repeated where doubles are not removed`() async throws {
        let provider = ScriptedProvider()
        #expect(try await verdict(provider, attempt(), isRepeat: true) == .concluded(.unknown))
        #expect(provider.calls.isEmpty)
    }

    @Test func `an attempt without an outcome is repeated where doubles are removed`() async throws {
        let provider = ScriptedProvider(removesDoubles: true)
        #expect(try await verdict(provider, attempt(), isRepeat: true) == .concluded(.delivered(providerID: nil)))
        #expect(provider.calls.count == 1)
    }

    @Test func `an attempt that had succeeded is not repeated`() async throws {
        let provider = ScriptedProvider(taken: { _ in true })
        #expect(try await verdict(provider, attempt(), isRepeat: true) == .concluded(.delivered(providerID: nil)))
        #expect(
            try await verdict(provider, attempt(), isRepeat: true, at: noon + .hours(1))
                == .concluded(.delivered(providerID: nil)))
        #expect(provider.calls.isEmpty)
    }

    @Test func `an attempt that had not succeeded is made`() async throws {
        let provider = ScriptedProvider(taken: { _ in false })
        #expect(try await verdict(provider, attempt(), isRepeat: true) == .concluded(.delivered(providerID: nil)))
        #expect(provider.calls.count == 1)
        #expect(try await verdict(provider, attempt(), isRepeat: true, at: noon + .hours(1)) == .concluded(.expired))
    }

    @Test func `that a repeat failed says nothing of the attempt before`() async throws {
        let blind = ScriptedProvider(removesDoubles: true) { _ in [.failed(.unavailable)] }
        #expect(try await verdict(blind, attempt(), isRepeat: true) == .unsure)
        let seeing = ScriptedProvider(removesDoubles: true, script: { _ in [.failed(.unavailable)] }, taken: { _ in false })
        #expect(try await verdict(seeing, attempt(), isRepeat: true) == .concluded(.failed(.unavailable)))
    }

    @Test func `a repeat that comes too late is unknown where nobody can tell`() async throws {
        let provider = ScriptedProvider(removesDoubles: true)
        #expect(try await verdict(provider, attempt(), isRepeat: true, at: noon + .hours(1)) == .concluded(.unknown))
    }

    // MARK: Many

    @Test func `batches are as large as the provider takes`() async throws {
        let provider = ScriptedProvider(batchSize: 4)
        let line = try line(provider)
        let attempts = try (0..<10).map { _ in try attempt() }
        for attempt in attempts { line.send(.init(attempt: attempt, isRepeat: false)) }
        line.start()
        #expect(try await waitUntil { verdicts.count == 10 })
        #expect(provider.calls.map(\.count) == [4, 4, 2])
        #expect(provider.calls.joined().map(\.id) == attempts.map(\.send))
        #expect(try await waitUntil { line.count == 0 })
        line.close()
    }

    @Test func `threads share what waits`() async throws {
        let gate = Gate()
        let provider = ScriptedProvider(batchSize: 1, concurrency: 3) { messages in
            gate.wait()
            return messages.map { _ in .delivered(providerID: nil) }
        }
        let line = try line(provider)
        for _ in 0..<3 { line.send(.init(attempt: try attempt(), isRepeat: false)) }
        line.start()
        #expect(try await waitUntil { gate.count == 3 })
        gate.open()
        #expect(try await waitUntil { verdicts.count == 3 })
        line.close()
    }

    @Test func `what nobody has begun with can be taken back`() async throws {
        let gate = Gate()
        let provider = ScriptedProvider(batchSize: 1) { messages in
            gate.wait()
            return messages.map { _ in .delivered(providerID: nil) }
        }
        let line = try line(provider)
        let attempts = try (0..<3).map { _ in try attempt() }
        for (number, attempt) in attempts.enumerated() { line.send(.init(attempt: attempt, isRepeat: number == 2)) }
        line.start()
        #expect(try await waitUntil { gate.count == 1 })
        line.withdraw()
        #expect(verdicts[attempts[1].send] == [.concluded(.failed(.unavailable))])
        // Of an earlier attempt nothing is said.
        #expect(verdicts[attempts[2].send] == [.unsure])
        gate.open()
        #expect(try await waitUntil { verdicts[attempts[0].send].count == 1 })
        #expect(provider.calls.count == 1)
        line.close()
    }

    @Test func `a provider that keeps failing is left alone for a while`() async throws {
        let provider = ScriptedProvider(batchSize: 1) { _ in [.failed(.unreachable)] }
        let line = try line(provider, breaker: CircuitBreaker(threshold: 2, shortest: .seconds(5), longest: .seconds(9)))
        line.start()
        let attempts = try (0..<4).map { _ in try attempt() }
        for attempt in attempts { line.send(.init(attempt: attempt, isRepeat: false)) }
        #expect(try await waitUntil { verdicts.count == 4 })
        #expect(provider.calls.count == 2)
        #expect(verdicts[attempts[1].send] == [.concluded(.failed(.unreachable))])
        #expect(verdicts[attempts[2].send] == [.concluded(.failed(.circuitOpen, retryAfter: .seconds(5)))])
        line.close()
    }

    @Test func `that a recipient is refused says nothing against the provider`() async throws {
        let provider = ScriptedProvider(batchSize: 1) { _ in [.failed(.recipientRefused)] }
        let line = try line(provider, breaker: CircuitBreaker(threshold: 2, shortest: .seconds(5), longest: .seconds(9)))
        line.start()
        for _ in 0..<5 { line.send(.init(attempt: try attempt(), isRepeat: false)) }
        #expect(try await waitUntil { verdicts.count == 5 })
        #expect(provider.calls.count == 5)
        line.close()
    }
}
