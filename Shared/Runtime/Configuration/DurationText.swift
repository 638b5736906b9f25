/// Durations as people write them: a whole number and a unit.
public enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// `nil` for anything else.
    public static func parse(_ text: String) -> Duration? {
        let digits = text.prefix { ("0"..."9").contains($0) }
        guard let count = DecimalText.number(digits) else { return nil }
        let name = text[digits.endIndex...]
        guard let unit = units.first(where: { $0.name == name }) else { return nil }
        let (milliseconds, overflow) = Int64(count).multipliedReportingOverflow(by: unit.milliseconds)
        return overflow || milliseconds > Int64.max / 1_000 ? nil : .milliseconds(milliseconds)
    }

    /// In the largest unit that gives a whole number.
    static func render(_ duration: Duration) -> String {
        let milliseconds = Int64(duration.milliseconds)
        let unit = units.last { milliseconds % $0.milliseconds == 0 && milliseconds >= $0.milliseconds } ?? units[0]
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
