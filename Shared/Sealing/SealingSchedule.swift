public import EventSchema

/// When the pairs of a service that draws a new one every day begin and end. All times are the log's.
public struct SealingSchedule: Sendable {
    /// How long before its day a pair is made and published, so that every instance holds it before anybody seals to it.
    public var lead: Interval = .hours(1)
    /// How long senders may use a pair. The second day is for when there is no newer one.
    public var lifetime: Interval = .days(2)
    /// How long before its beginning a pair is published that is made out of turn: by then every instance holds it.
    public var notice: Interval = .seconds(5)
    /// How long after its end something sealed to a pair may come into an inbox for the first time: as long as commands are
    /// kept. What senders' clocks are wrong by is a small part of it.
    public var delay: Interval = .hours(1)

    public init() {}

    static let day: Interval = .days(1)

    /// The days whose pairs must exist at `now`, counted from 1970-01-01 in UTC.
    func days(at now: Timestamp) -> ClosedRange<Int32> { Self.day(of: now)...Self.day(of: now + lead) }

    func notBefore(day: Int32) -> Timestamp { Timestamp(milliseconds: Int64(day) * Self.day.milliseconds) }

    func notAfter(day: Int32) -> Timestamp { notBefore(day: day) + lifetime }

    /// After this time no record that is appended can be the first to carry something sealed to the pair.
    func lastUse(notAfter: Timestamp) -> Timestamp { notAfter + delay }

    private static func day(of time: Timestamp) -> Int32 {
        let (quotient, remainder) = time.milliseconds.quotientAndRemainder(dividingBy: day.milliseconds)
        return Int32(clamping: remainder < 0 ? quotient - 1 : quotient)
    }
}
