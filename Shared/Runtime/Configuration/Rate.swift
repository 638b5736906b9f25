/// So many in any span of this length.
public struct Rate: Hashable, Sendable, CustomStringConvertible {
    public var count: Int
    public var window: Duration

    public init(_ count: Int, per window: Duration) {
        self.count = count
        self.window = window
    }

    /// More than that is no limit, and costs whoever keeps count a time stamp each.
    static let largestCount = 1_000_000

    /// `20/15m`. At least one and at most 1,000,000, in at least a second.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = DecimalText.number(parts[0]), 1...Self.largestCount ~= count else { return nil }
        guard let window = DurationText.parse(String(parts[1])), window >= .seconds(1) else { return nil }
        self.init(count, per: window)
    }

    public var description: String { "\(count)/\(DurationText.render(window))" }
}
