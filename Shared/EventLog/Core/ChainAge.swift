internal import EventSchema

/// How much time has passed on a chain, as far as its events show: what decides for how long things are remembered. A clock
/// that jumps ahead must not make everybody forget at once, so one event lets at most a second pass; where there are few
/// events, things are remembered longer, and there are few things.
struct ChainAge: Sendable {
    private(set) var elapsed = Interval.zero
    private var last: Timestamp?

    mutating func advance(to appended: Timestamp) {
        if let last {
            let step = min(max((appended - last).milliseconds, 0), 1_000)
            elapsed = .milliseconds(elapsed.milliseconds + step)
        }
        last = appended
    }
}

extension Interval {
    static func + (left: Interval, right: Interval) -> Interval { .milliseconds(left.milliseconds + right.milliseconds) }
    static func - (left: Interval, right: Interval) -> Interval { .milliseconds(left.milliseconds - right.milliseconds) }
}
