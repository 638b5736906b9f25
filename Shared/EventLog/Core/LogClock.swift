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
    /// How far the log's clock is ahead of this process's steady one, in milliseconds. Never more than it is.
    private var difference: Int64?
    private(set) var learnt = LocalInstant(milliseconds: .min)

    var isKnown: Bool { difference != nil }

    /// An append was acknowledged just now. The log stamped it after it was sent and before the acknowledgement came, which
    /// may have taken long: that bounds the difference from both sides. The lower bound alone is what an estimate is raised
    /// to; above the upper one, the log's clock was set back.
    mutating func learn(_ appended: Timestamp, sent: LocalInstant?, at local: LocalInstant) {
        let least = appended.milliseconds - local.milliseconds
        guard let known = difference else {
            difference = least
            learnt = local
            return
        }
        // The milliseconds of two clocks do not begin at once.
        let most = sent.map { appended.milliseconds - $0.milliseconds + 1 }
        difference = most.map { known > $0 ? least : max(known, least) } ?? max(known, least)
        if most != nil { learnt = local }
    }

    /// Times of one partition ran back, so the log's clock was set back: what was known of it counts for nothing more.
    mutating func doubt() { learnt = LocalInstant(milliseconds: .min) }

    func now(at local: LocalInstant) -> Timestamp? {
        difference.map { Timestamp(milliseconds: local.milliseconds + $0) }
    }

    /// Whether so much time has passed that the log's clock may have been set meanwhile.
    func isStale(at local: LocalInstant) -> Bool { learnt.milliseconds == .min || learnt + .seconds(5) < local }
}
