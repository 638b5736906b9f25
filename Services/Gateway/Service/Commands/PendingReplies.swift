import EventSchema
import HTTP
import Runtime
import Synchronization

/// Requests that wait for replies, by the id that their reply address carries.
final class PendingReplies: Sendable {
    typealias Waiter = Handoff<Result<Reply, any Error>>

    private enum Entry {
        case waiting(Waiter)
        /// The request has ended; its answer is kept for whoever asks again.
        case late(until: ContinuousClock.Instant, @Sendable (Reply) -> Void)
    }

    /// How long a reply is still of use after its request has ended.
    private static let lateness: Duration = .seconds(60)
    private static let lateLimit = 10_000

    private struct State {
        var entries: [[UInt8]: Entry] = [:]
        var nextSweep = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let matched: Counter
    private let late: Counter
    private let unmatched: Counter

    init(metrics: Metrics) {
        let replies = metrics.counters("latchkey_gateway_replies_total", "Replies read, by what they met.", labels: ["met"])
        matched = replies.with("waiting")
        late = replies.with("late")
        unmatched = replies.with("nobody")
        metrics.collect { [weak self] in
            [
                Sample(
                    "latchkey_gateway_pending_replies", "Requests that wait for a reply.", .gauge, value: Double(self?.count ?? 0)
                )
            ]
        }
    }

    var count: Int { state.withLock { $0.entries.count } }

    func add(_ request: [UInt8], _ waiter: Waiter) { state.withLock { $0.entries[request] = .waiting(waiter) } }

    /// The first reply is the answer; owners may send several.
    func resolve(_ request: [UInt8], with reply: Reply) {
        switch state.withLock({ $0.entries.removeValue(forKey: request) }) {
        case .waiting(let waiter):
            matched.increment()
            waiter.resume(returning: .success(reply))
        case .late(_, let keep):
            late.increment()
            keep(reply)
        case nil:
            unmatched.increment()
        }
    }

    /// The request ends without a reply. With `keep`, a reply that comes later is not lost.
    func abandon(_ request: [UInt8], throwing error: any Error, keep: (@Sendable (Reply) -> Void)? = nil) {
        let waiter = state.withLock { state -> Waiter? in
            guard case .waiting(let waiter) = state.entries[request] else { return nil }
            state.entries[request] = nil
            if let keep, state.entries.count < Self.lateLimit {
                state.entries[request] = .late(until: .now + Self.lateness, keep)
            }
            return waiter
        }
        waiter?.resume(returning: .failure(error))
    }

    /// Forgets, now and then, what came too late even for that.
    func sweep() {
        let now = ContinuousClock.now
        state.withLock { state in
            guard state.nextSweep <= now else { return }
            state.nextSweep = now + .seconds(5)
            state.entries = state.entries.filter { if case .late(let until, _) = $0.value { now < until } else { true } }
        }
    }
}
