/// The name of a message type, as it stands in `ce_type`: a base of dotted lower-case words and a version,
/// `latchkey.verification.code-issued.v1`.
public struct TypeName: Hashable, Sendable, CustomStringConvertible {
    /// What comes before the version: `latchkey.verification.code-issued`.
    public let base: String
    /// 1 or more.
    public let version: Int

    /// Reads a name. `nil` where it is not of that form; leading zeros in the version are not.
    public init?(_ text: String) {
        guard let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let base = text[..<dot]
        let suffix = text.utf8[text.utf8.index(after: dot)...]
        let digits = suffix.dropFirst()
        guard suffix.first == UInt8(ascii: "v"), 1...5 ~= digits.count, digits.first != UInt8(ascii: "0") else { return nil }
        guard digits.allSatisfy({ 48...57 ~= $0 }), let version = Int(text[digits.startIndex...]) else { return nil }
        for word in base.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard let first = word.first, 97...122 ~= first, word.last != UInt8(ascii: "-") else { return nil }
            guard word.allSatisfy({ 97...122 ~= $0 || 48...57 ~= $0 || $0 == UInt8(ascii: "-") }) else { return nil }
        }
        self.base = String(base)
        self.version = version
    }

    private init(base: String, version: Int) { (self.base, self.version) = (base, version) }

    /// The version after this one.
    public var next: TypeName { TypeName(base: base, version: version + 1) }

    public var description: String { "\(base).v\(version)" }
}
