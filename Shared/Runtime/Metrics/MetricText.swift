/// The pieces of Prometheus' text format 0.0.4.
enum MetricText {
    static func describe(_ name: String, _ help: String, _ kind: MetricKind, into text: inout String) {
        text += "# HELP \(name) \(escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    static func append(_ name: String, _ labels: [(String, String)], _ value: Double, to text: inout String) {
        text += name
        if !labels.isEmpty {
            text += "{"
            text += labels.map { "\($0.0)=\"\(escaped($0.1, quotes: true))\"" }.joined(separator: ",")
            text += "}"
        }
        text += " \(number(value))\n"
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let integer = Int64(exactly: value) { return String(integer) }
        return "\(value)"
    }

    static func isName(_ name: String) -> Bool { isIdentifier(name, also: ":") }

    /// `le` belongs to histograms, and names that begin with two underscores to Prometheus.
    static func isLabel(_ name: String) -> Bool { isIdentifier(name, also: "") && name != "le" && !name.hasPrefix("__") }

    private static func isIdentifier(_ name: String, also: String) -> Bool {
        guard let first = name.unicodeScalars.first else { return false }
        guard !("0"..."9").contains(first) else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "_"
                || also.unicodeScalars.contains(scalar)
        }
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
