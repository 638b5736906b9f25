public import EventSchema

/// An instant of this process's own steady clock, in milliseconds; it says nothing about the time of day.
public struct LocalInstant: Hashable, Comparable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: LocalInstant, right: LocalInstant) -> Bool { left.milliseconds < right.milliseconds }
    public static func + (left: LocalInstant, right: Interval) -> LocalInstant {
        LocalInstant(milliseconds: left.milliseconds + right.milliseconds)
    }
}

/// What the log's clock shows, learnt from acknowledged appends: whatever this machine's clock says, budgets count by the
/// log's.
struct LogClock: Sendable {
    /// How far the log's clock is ahead of this process's steady one, in milliseconds: not less, and not more.
    private var difference: ClosedRange<Int64>?
    /// When the last one was sent of those appends that were acknowledged.
    private(set) var asked = LocalInstant(milliseconds: .min)

    var isKnown: Bool { difference != nil }

    /// An append was acknowledged just now. The log stamped it after it was sent and before the acknowledgement came, which
    /// may have taken long (and been looked at later still): that bounds the difference from both sides. Where the bounds
    /// contradict what was known, the log's clock was set.
    mutating func learn(_ appended: Timestamp, sent: LocalInstant, at local: LocalInstant) {
        // The milliseconds of two clocks do not begin at once.
        let bounds = appended.milliseconds - local.milliseconds...appended.milliseconds - sent.milliseconds + 1
        // One that was sent before another that is known tells nothing of a clock that was set in between.
        if sent < asked, let difference, !difference.overlaps(bounds) { return }
        difference = difference.flatMap { $0.overlaps(bounds) ? $0.clamped(to: bounds) : nil } ?? bounds
        asked = max(asked, sent)
    }

    /// The time, never early.
    func now(at local: LocalInstant) -> Timestamp? {
        difference.map { Timestamp(milliseconds: local.milliseconds + $0.lowerBound) }
    }

    /// Whether this time may be over.
    func mayBePast(_ time: Timestamp, at local: LocalInstant) -> Bool {
        difference.map { time.milliseconds < local.milliseconds + $0.upperBound } ?? true
    }

    /// Whether it was asked for after this instant. A record that was read then may have been stamped after the clock was set,
    /// and seem late by all that was known before: it is late only by what was learnt since.
    func isKnown(since local: LocalInstant) -> Bool { asked > local }
}
