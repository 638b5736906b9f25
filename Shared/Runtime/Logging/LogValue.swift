/// The value of one field of a log line, classified by whoever logs it.
///
/// Only literals convert by themselves; a string made at run time has to say whether anybody may read it (`.public`), may
/// read its outline (`.masked`), or nobody may (`.secret`).
public enum LogValue: Sendable, Equatable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)
    /// Already reduced to an outline by ``masked(_:)``.
    case outline(String)
    /// Prints `***`; what it was is not even kept.
    case secret

    public static func `public`(_ text: String) -> LogValue { .text(text) }
    public static func `public`(_ value: some BinaryInteger) -> LogValue { .integer(Int64(clamping: value)) }
    public static func `public`(_ value: Double) -> LogValue { .number(value) }
    public static func `public`(_ value: Bool) -> LogValue { .flag(value) }
    /// In milliseconds.
    public static func `public`(_ duration: Duration) -> LogValue { .number(duration.milliseconds) }

    /// The outline of an e-mail address, a phone number, an IP address or any other personal text. Enough to recognise
    /// what one knows already, too little to learn it.
    public static func masked(_ text: String) -> LogValue { .outline(Mask.outline(of: text)) }

    public static func secret<Value>(_: Value) -> LogValue { .secret }
}

extension LogValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    public init(stringLiteral value: StaticString) { self = .text(value.description) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .flag(value) }
}

extension Duration {
    /// The whole of it in milliseconds, fractions kept.
    public var milliseconds: Double {
        Double(components.seconds) * 1_000 + Double(components.attoseconds) / 1e15
    }
}
