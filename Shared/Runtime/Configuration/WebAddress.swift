/// An absolute URL, as far as a setting needs it: scheme, host, port and path.
public struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    /// As it was given.
    public let text: String
    /// In lower case.
    public let scheme: String
    /// In lower case; IPv6 addresses without brackets.
    public let host: String
    public let port: Int?
    /// Empty, or begins with a slash. With query, without fragment.
    public let path: String

    public var description: String { text }

    /// `nil` for anything relative, with user information or a fragment, with characters that a URL cannot hold, or with a
    /// port that is none.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && !"\"<>\\^`{|}#".utf8.contains($0) }) else { return nil }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
        let scheme = text[..<colon].lowercased()
        let isSchemeCharacter: (Character) -> Bool = { $0.isLetter || $0.isNumber || "+-.".contains($0) }
        guard let first = scheme.first, first.isLetter, scheme.allSatisfy(isSchemeCharacter) else { return nil }
        let rest = text[text.index(colon, offsetBy: 3)...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.isEmpty, !authority.contains("@") else { return nil }

        let host: Substring
        let after: Substring
        if authority.hasPrefix("[") {
            guard let close = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<close]
            guard IPAddress.isValidV6(String(host)) else { return nil }
            after = authority[authority.index(after: close)...]
        } else {
            host = authority.prefix { $0 != ":" }
            after = authority[host.endIndex...]
            guard host.allSatisfy({ $0.isLetter || $0.isNumber || "-._~%".contains($0) }) else { return nil }
        }
        guard !host.isEmpty else { return nil }
        if after.isEmpty {
            port = nil
        } else {
            guard after.hasPrefix(":"), let number = DecimalText.number(after.dropFirst()), (1...65_535).contains(number) else {
                return nil
            }
            port = number
        }
        self.text = text
        self.scheme = scheme
        self.host = host.lowercased()
        self.path = String(rest[authority.endIndex...])
    }

    init(unchecked text: String) {
        self.text = text
        scheme = ""
        host = ""
        port = nil
        path = ""
    }
}
