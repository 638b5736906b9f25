public import EventSchema
import Runtime
import Synchronization

/// This machine's clock, which a test can set forward: the clock of a log in memory.
public final class SettableClock: Sendable {
    private let ahead = Mutex(Interval.zero)

    public init() {}

    public var now: Timestamp { ahead.withLock { Timestamp(milliseconds: WallClock.now()) + $0 } }

    public func advance(by interval: Interval) { ahead.withLock { $0 = $0 + interval } }
}

extension Interval {
    fileprivate static func + (left: Interval, right: Interval) -> Interval {
        Interval(milliseconds: left.milliseconds + right.milliseconds)
    }
}
