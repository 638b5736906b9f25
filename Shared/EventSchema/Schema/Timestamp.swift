/// An instant of the log's clock: whole milliseconds since 1970-01-01T00:00:00Z, as Kafka stamps records.
public struct Timestamp: Hashable, Comparable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
    public static func + (left: Timestamp, right: Interval) -> Timestamp {
        Timestamp(milliseconds: left.milliseconds + right.milliseconds)
    }
    public static func - (left: Timestamp, right: Interval) -> Timestamp {
        Timestamp(milliseconds: left.milliseconds - right.milliseconds)
    }
    public static func - (left: Timestamp, right: Timestamp) -> Interval {
        Interval(milliseconds: left.milliseconds - right.milliseconds)
    }
}

/// A length of time on the log's clock, in whole milliseconds.
public struct Interval: Hashable, Comparable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// What is less than a millisecond is left out.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(milliseconds: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    public static let zero = Interval(milliseconds: 0)
    public static func milliseconds(_ count: Int64) -> Interval { Interval(milliseconds: count) }
    public static func seconds(_ count: Int64) -> Interval { Interval(milliseconds: count * 1_000) }
    public static func minutes(_ count: Int64) -> Interval { Interval(milliseconds: count * 60_000) }
    public static func hours(_ count: Int64) -> Interval { Interval(milliseconds: count * 3_600_000) }
    public static func days(_ count: Int64) -> Interval { Interval(milliseconds: count * 86_400_000) }

    public static func + (left: Interval, right: Interval) -> Interval {
        Interval(milliseconds: left.milliseconds + right.milliseconds)
    }

    public static func - (left: Interval, right: Interval) -> Interval {
        Interval(milliseconds: left.milliseconds - right.milliseconds)
    }

    public static func < (left: Interval, right: Interval) -> Bool { left.milliseconds < right.milliseconds }
}
