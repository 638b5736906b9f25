public import EventSchema

/// When a send that failed is tried again: exponential back-off with jitter, a limited number of times.
public struct RetrySchedule: Equatable, Sendable {
    /// The wait before the second round.
    public var first: Interval
    public var longest: Interval
    /// How many attempts there may be, the first one included.
    public var attempts: Int

    public init(first: Interval = .seconds(1), longest: Interval = .seconds(30), attempts: Int = 12) {
        precondition(first > .zero && longest >= first && attempts >= 1, "a schedule needs waits and an attempt")
        self.first = first
        self.longest = longest
        self.attempts = attempts
    }

    /// The wait after the round with this number, from 1: twice as long each time, the upper half of it random, so that
    /// sends which failed together do not come back together. `jitter` is in `0 ..< 1`.
    public func wait(afterRound round: Int, jitter: Double) -> Interval {
        let doublings = min(max(round - 1, 0), 30)
        let (product, overflow) = first.milliseconds.multipliedReportingOverflow(by: 1 << Int64(doublings))
        let full = overflow ? longest.milliseconds : min(product, longest.milliseconds)
        return .milliseconds(full / 2 + Int64(Double(full - full / 2) * min(max(jitter, 0), 1)))
    }
}
