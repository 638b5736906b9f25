import EventSchema
import HTTP
import Runtime
import Synchronization

/// Requests that wait for replies, by the id that their reply address carries.
final class PendingReplies: Sendable {
    typealias Waiter = CheckedContinuation<Reply, any Error>

    private enum Entry {
        case waiting(Waiter)
        /// The request has ended; its answer is kept for whoever asks again.
        case late(until: ContinuousClock.Instant, @Sendable (Reply) -> Void)
    }

    /// How long a reply is still of use after its request has ended.
    private static let lateness: Duration = .seconds(60)
    private static let lateLimit = 10_000

    private let entries = Mutex<[[UInt8]: Entry]>([:])
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

    var count: Int { entries.withLock { $0.count } }

    func add(_ request: [UInt8], _ waiter: Waiter) { entries.withLock { $0[request] = .waiting(waiter) } }

    /// The first reply is the answer; owners may send several.
    func resolve(_ request: [UInt8], with reply: Reply) {
        switch entries.withLock({ $0.removeValue(forKey: request) }) {
        case .waiting(let waiter):
            matched.increment()
            waiter.resume(returning: reply)
        case .late(_, let keep):
            late.increment()
            keep(reply)
        case nil:
            unmatched.increment()
        }
    }

    /// The request ends without a reply. With `keep`, a reply that comes later is not lost.
    func abandon(_ request: [UInt8], throwing error: any Error, keep: (@Sendable (Reply) -> Void)? = nil) {
        let waiter = entries.withLock { entries -> Waiter? in
            guard case .waiting(let waiter) = entries[request] else { return nil }
            entries[request] = nil
            if let keep, entries.count < Self.lateLimit { entries[request] = .late(until: .now + Self.lateness, keep) }
            return waiter
        }
        waiter?.resume(throwing: error)
    }

    /// Forgets what came too late even for that.
    func sweep() {
        let now = ContinuousClock.now
        entries.withLock { entries in
            entries = entries.filter { if case .late(let until, _) = $0.value { now < until } else { true } }
        }
    }
}
