import EventSchema
import Testing

@testable import NotifierService

@Suite struct CircuitBreakerTests {
    private let noon = Timestamp(milliseconds: 1_800_000_000_000)

    private func opened(at time: Timestamp) -> CircuitBreaker {
        var breaker = CircuitBreaker(threshold: 3, shortest: .seconds(5), longest: .seconds(15))
        for _ in 1...3 { breaker.failed(at: time) }
        return breaker
    }

    @Test func `failures in a row open it, a success in between begins to count anew`() {
        var breaker = CircuitBreaker(threshold: 3, shortest: .seconds(5), longest: .seconds(15))
        breaker.failed(at: noon)
        breaker.failed(at: noon)
        breaker.succeeded()
        breaker.failed(at: noon)
        breaker.failed(at: noon)
        #expect(breaker.refusal(at: noon) == nil)
        breaker.failed(at: noon)
        #expect(breaker.refusal(at: noon + .seconds(2)) == .seconds(3))
    }

    @Test func `after the pause one call is let through, and no other`() {
        var breaker = opened(at: noon)
        #expect(breaker.refusal(at: noon + .seconds(5)) == nil)
        #expect(breaker.refusal(at: noon + .seconds(5)) == .seconds(5))
    }

    @Test func `the call that succeeds closes it`() {
        var breaker = opened(at: noon)
        _ = breaker.refusal(at: noon + .seconds(5))
        breaker.succeeded()
        #expect(breaker.isClosed)
        #expect(breaker.refusal(at: noon + .seconds(5)) == nil)
    }

    @Test func `the call that fails opens it for twice as long, up to a bound`() {
        var breaker = opened(at: noon)
        var now = noon
        for pause in [5, 10, 15, 15] as [Int64] {
            #expect(breaker.refusal(at: now) == .seconds(pause))
            now = now + .seconds(pause)
            #expect(breaker.refusal(at: now) == nil)
            breaker.failed(at: now)
        }
    }

    @Test func `a call that never comes back is replaced`() {
        var breaker = opened(at: noon)
        _ = breaker.refusal(at: noon + .seconds(5))
        #expect(breaker.refusal(at: noon + .seconds(19)) != nil)
        #expect(breaker.refusal(at: noon + .seconds(20)) == nil)
    }
}
