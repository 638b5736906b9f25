internal import EventSchema

/// Keeps calls away from a provider that does not answer: after several failures in a row it opens for a while, then lets
/// one call through, and closes when that succeeds or opens for longer.
struct CircuitBreaker: Equatable, Sendable {
    private enum State: Equatable, Sendable {
        case closed(failures: Int)
        case open(until: Timestamp, pause: Interval)
        /// One call is on its way to see whether the provider is back. Who does not come back with an answer is replaced.
        case trying(since: Timestamp, pause: Interval)
    }

    /// So many failures in a row open it.
    let threshold: Int
    let shortest: Interval
    let longest: Interval
    private var state = State.closed(failures: 0)

    init(threshold: Int = 5, shortest: Interval = .seconds(5), longest: Interval = .minutes(2)) {
        self.threshold = threshold
        self.shortest = shortest
        self.longest = longest
    }

    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// `nil` where a call may be made; otherwise how long to wait.
    mutating func refusal(at now: Timestamp) -> Interval? {
        switch state {
        case .closed: return nil
        case .open(let until, let pause):
            guard now >= until else { return until - now }
            state = .trying(since: now, pause: pause)
            return nil
        case .trying(let since, let pause):
            guard now >= since + longest else { return pause }
            state = .trying(since: now, pause: pause)
            return nil
        }
    }

    mutating func succeeded() { state = .closed(failures: 0) }

    mutating func failed(at now: Timestamp) {
        switch state {
        case .closed(let failures):
            state = failures + 1 < threshold ? .closed(failures: failures + 1) : .open(until: now + shortest, pause: shortest)
        case .trying(_, let pause):
            let longer = min(Interval(milliseconds: pause.milliseconds * 2), longest)
            state = .open(until: now + longer, pause: longer)
        case .open: break
        }
    }
}
