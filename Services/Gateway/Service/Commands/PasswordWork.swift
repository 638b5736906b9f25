import EventSchema
import HTTP
import Runtime
import Synchronization

/// Bounds the requests that wait for a password to be hashed by how fast they complete, so that those that are let in are
/// answered soon, and all others at once.
///
/// Where `n` requests were under way when one began that took the time `t`, some `n / t` complete in a second (Little's law):
/// so many are let in as complete within `patience`. Each gateway learns its own share of what all check workers do.
final class PasswordWork: Sendable {
    private struct State {
        var underWay = 0
        var limit = Double(PasswordWork.first)
        var isFull: Bool { Double(underWay) >= limit.rounded(.down) }
    }

    /// How long what is let in should take.
    static let patience: Duration = .milliseconds(800)
    /// The limit while nothing is known.
    private static let first = 32
    /// The least limit: without a request nothing would be learnt.
    private static let least = 4.0
    /// How much the limit moves towards what one request says.
    private static let weight = 1.0 / 16

    private let state = Mutex(State())
    private let refused: Counter
    private let now: @Sendable () -> ContinuousClock.Instant

    init(metrics: Metrics, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        refused = metrics.counter(
            "latchkey_gateway_password_refused_total", "Requests refused because as many wait for a password as complete soon.")
        self.now = now
        metrics.collect { [weak self] in
            guard let self else { return [] }
            let (underWay, limit) = state.withLock { ($0.underWay, $0.limit) }
            return [
                Sample(
                    "latchkey_gateway_password_work", "Requests that wait for a password to be hashed.", .gauge,
                    value: Double(underWay)),
                Sample(
                    "latchkey_gateway_password_limit", "How many may wait for a password to be hashed.", .gauge, value: limit),
            ]
        }
    }

    /// Throws `UNAVAILABLE` where one more would be too many.
    func check() throws(APIError) {
        if state.withLock({ $0.isFull }) { throw refusal }
    }

    /// Asks for something that hashes a password. Throws `UNAVAILABLE` where one more would be too many.
    func ask(_ command: () async throws -> Reply) async throws -> Reply {
        let start = now()
        let place = state.withLock { state -> Int? in
            guard !state.isFull else { return nil }
            state.underWay += 1
            return state.underWay
        }
        guard let place else { throw refusal }
        do {
            let reply = try await command()
            finish(place, start, isMeasured: reply.outcome.saysHashed)
            return reply
        } catch {
            // Whatever took all the time that there was says that there were too many.
            finish(place, start, isMeasured: (error as? HTTPFailure) == .timeout)
            throw error
        }
    }

    private var refusal: APIError {
        refused.increment()
        return .unavailable
    }

    private func finish(_ place: Int, _ start: ContinuousClock.Instant, isMeasured: Bool) {
        let took = max(start.duration(to: now()), .milliseconds(1))
        state.withLock { state in
            state.underWay -= 1
            guard isMeasured else { return }
            let said = Double(place) * (Self.patience / took)
            // How long few take says nothing of how many could be done.
            guard said > state.limit || Double(place) * 2 >= state.limit else { return }
            state.limit = max(Self.least, state.limit + (said - state.limit) * Self.weight)
        }
    }
}

extension Reply.Outcome {
    /// Whether a password was hashed for it. What comes sooner says nothing of how long that takes.
    fileprivate var saysHashed: Bool { [.ok, .invalidCredentials, .accountExists].contains(self) }
}

/// Refuses requests that would hash a password while there are too many of them, before anything is done for them.
struct BoundPasswordWork: Middleware {
    let work: PasswordWork

    func handle(_ request: Request, context: RequestContext, next: Handler) async throws -> Response {
        try work.check()
        return try await next(request, context)
    }
}
