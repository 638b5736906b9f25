/// Outlines of personal data for logs and for messages to operators.
public enum Mask {
    /// - An e-mail address keeps its first character and its top-level domain: `u***@***.com`.
    /// - A phone number keeps its last two digits: `***48`.
    /// - An IPv4 address keeps its first two parts, an IPv6 address its first: `192.0.***`, `2001:***`.
    /// - Anything else keeps its first character, or none if it is short.
    public static func outline(of text: String) -> String {
        if let at = text.lastIndex(of: "@") {
            let domain = text[text.index(after: at)...]
            let top = domain.lastIndex(of: ".").map { domain[$0...] } ?? ""
            return "\(text[..<at].prefix(1))***@***\(top)"
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 4, parts.allSatisfy({ !$0.isEmpty && $0.count <= 3 && $0.allSatisfy(isDigit) }) {
            return "\(parts[0]).\(parts[1]).***"
        }
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        if groups.count >= 3, text.allSatisfy({ $0.isHexDigit || ":./%".contains($0) }) {
            return "\(groups[0]):***"
        }
        let digits = text.filter(isDigit)
        if digits.count >= 7, text.allSatisfy({ isDigit($0) || "+()- ./".contains($0) }) {
            return "***\(digits.suffix(2))"
        }
        return text.count >= 6 ? "\(text.prefix(1))***" : "***"
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
}
