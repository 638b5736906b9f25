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
    private var difference: Int64?
    private(set) var learnt = LocalInstant(milliseconds: .min)

    var isKnown: Bool { difference != nil }

    /// An append was acknowledged just now. The estimate is late by the way back of the acknowledgement, never early.
    mutating func learn(_ appended: Timestamp, at local: LocalInstant) {
        difference = appended.milliseconds - local.milliseconds
        learnt = local
    }

    func now(at local: LocalInstant) -> Timestamp? {
        difference.map { Timestamp(milliseconds: local.milliseconds + $0) }
    }
}
