/// How the text of one environment variable becomes a value.
public struct SettingType<Value: Sendable>: Sendable {
    /// Completes "… is not": `a port (1–65535)`.
    public let expectation: String
    /// Secrets are never shown, and may stand in a file named by `NAME_FILE`.
    public let isSecret: Bool
    /// Stands in for a value while the remaining variables are looked at; never leaves a reading that has faults.
    let placeholder: @Sendable () -> Value
    let parse: @Sendable (String) -> Value?
    let render: @Sendable (Value) -> String

    public init(
        expectation: String, isSecret: Bool = false, placeholder: @escaping @autoclosure @Sendable () -> Value,
        parse: @escaping @Sendable (String) -> Value?, render: @escaping @Sendable (Value) -> String
    ) {
        self.expectation = expectation
        self.isSecret = isSecret
        self.placeholder = placeholder
        self.parse = parse
        self.render = render
    }
}

extension SettingType where Value == String {
    public static var text: SettingType {
        SettingType(expectation: "a text", placeholder: "", parse: { $0 }, render: { $0 })
    }

    /// A text that must not be shown, such as a connection string with a password in it.
    public static var secretText: SettingType {
        SettingType(expectation: "a text", isSecret: true, placeholder: "", parse: { $0 }, render: { _ in "***" })
    }

    /// An IPv4 or IPv6 address to listen at; `localhost` is none.
    public static var address: SettingType {
        SettingType(
            expectation: "an IP address", placeholder: "127.0.0.1", parse: { IPAddress.isValid($0) ? $0 : nil }, render: { $0 })
    }
}

extension SettingType where Value == Int {
    public static func integer(_ range: ClosedRange<Int>) -> SettingType {
        SettingType(
            expectation: "a whole number from \(range.lowerBound) to \(range.upperBound)", placeholder: range.lowerBound,
            parse: { text in DecimalText.signed(text).flatMap { range.contains($0) ? $0 : nil } }, render: { String($0) })
    }

    public static var port: SettingType {
        SettingType(
            expectation: "a port (1 to 65535)", placeholder: 1,
            parse: { text in DecimalText.signed(text).flatMap { (1...65_535).contains($0) ? $0 : nil } }, render: { String($0) })
    }

    /// A port, or 0 for none.
    public static var optionalPort: SettingType {
        SettingType(
            expectation: "a port (1 to 65535, or 0 for none)", placeholder: 0,
            parse: { text in DecimalText.signed(text).flatMap { (0...65_535).contains($0) ? $0 : nil } }, render: { String($0) })
    }
}

extension SettingType where Value == Bool {
    public static var flag: SettingType {
        SettingType(
            expectation: "true or false", placeholder: false,
            parse: { text in
                switch text.lowercased() {
                case "true", "yes", "on", "1": true
                case "false", "no", "off", "0": false
                default: nil
                }
            }, render: { $0 ? "true" : "false" })
    }
}

extension SettingType where Value == Duration {
    /// `250ms`, `30s`, `5m`, `1h`, `1d`. A bare number is refused: nobody knows what it would mean.
    public static func duration(_ range: ClosedRange<Duration>) -> SettingType {
        SettingType(
            expectation:
                "a duration from \(DurationText.render(range.lowerBound)) to \(DurationText.render(range.upperBound)), such as 30s",
            placeholder: range.lowerBound,
            parse: { text in DurationText.parse(text).flatMap { range.contains($0) ? $0 : nil } },
            render: DurationText.render)
    }
}

extension SettingType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the cases of an enumeration, by their raw values.
    public static var choice: SettingType {
        let names = Value.allCases.map(\.rawValue)
        return SettingType(
            expectation: names.count == 2 ? "\(names[0]) or \(names[1])" : "one of \(names.joined(separator: ", "))",
            placeholder: Value.allCases.first!, parse: { Value(rawValue: $0) }, render: { $0.rawValue })
    }
}

extension SettingType where Value == [String] {
    /// Texts separated by commas; spaces around them do not count.
    public static var list: SettingType { list(of: "texts") { _ in true } }

    /// IP addresses and networks in CIDR notation, separated by commas.
    public static var networks: SettingType { list(of: "networks such as 10.0.0.0/8, ::1", IPAddress.isValidNetwork) }

    private static func list(of what: String, _ isValid: @escaping @Sendable (String) -> Bool) -> SettingType {
        SettingType(
            expectation: "a list of \(what), separated by commas", placeholder: [],
            parse: { text in
                let items = text.split(separator: ",", omittingEmptySubsequences: false).map { Trimmed.spaces($0) }
                return items.allSatisfy { !$0.isEmpty && isValid($0) } ? items : nil
            }, render: { $0.joined(separator: ",") })
    }
}

extension SettingType where Value == WebAddress {
    public static func url(schemes: Set<String> = ["https", "http"]) -> SettingType {
        let names = schemes.sorted().map { "\($0)://…" }.joined(separator: " or ")
        return SettingType(
            expectation: "a URL (\(names))", placeholder: WebAddress(unchecked: "http://localhost"),
            parse: { text in WebAddress(text).flatMap { schemes.contains($0.scheme) ? $0 : nil } }, render: { $0.text })
    }
}

extension SettingType where Value == Rate? {
    /// `20/15m`: so many in any span of that length, see ``Rate``. `off`: no limit.
    public static var rate: SettingType {
        SettingType(
            expectation: "a limit such as 20/15m, of at most 1000000, or off", placeholder: nil,
            parse: { text in
                if text == "off" { return .some(nil) }
                return Rate(text).map { .some($0) } ?? nil
            }, render: { $0?.description ?? "off" })
    }
}
