/// A language tag (BCP 47, RFC 5646) in its conventional spelling: language and what follows in lower case, scripts like
/// `Latn`, regions like `DE`. It is checked for form only, and can stand in a file name.
public struct LanguageTag: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// Reads a tag in any case. `nil` unless it is 2–35 characters of subtags (a language of 2–8 letters, then 1–8 letters or
    /// digits each) joined by hyphens.
    public init?(_ text: String) {
        guard 2...35 ~= text.utf8.count else { return nil }
        var spelled: [String] = []
        var afterSingleton = false
        for subtag in text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false) {
            guard 1...8 ~= subtag.count, subtag.allSatisfy({ Self.isLetter($0) || 48...57 ~= $0 }) else { return nil }
            let lower = subtag.map { 65...90 ~= $0 ? $0 | 0x20 : $0 }
            let onlyLetters = lower.allSatisfy(Self.isLetter)
            var word = String(decoding: lower, as: UTF8.self)
            if spelled.isEmpty {
                guard onlyLetters, word.utf8.count >= 2 else { return nil }
            } else if !afterSingleton, onlyLetters, word.utf8.count == 2 {
                word = word.uppercased()
            } else if !afterSingleton, onlyLetters, word.utf8.count == 4 {
                word = word.prefix(1).uppercased() + word.dropFirst()
            }
            if word.utf8.count == 1 { afterSingleton = true }
            spelled.append(word)
        }
        guard spelled.last?.utf8.count != 1 else { return nil }
        self.text = spelled.joined(separator: "-")
    }

    /// The tag's language alone: `de` of `de-AT`.
    public var language: String { String(text.prefix { $0 != "-" }) }

    public var description: String { text }

    private static func isLetter(_ byte: UInt8) -> Bool { 65...90 ~= byte || 97...122 ~= byte }
}
