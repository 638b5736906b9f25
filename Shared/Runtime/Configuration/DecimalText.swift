/// Whole numbers as settings write them.
enum DecimalText {
    /// ASCII digits and nothing else: no sign, no spaces, no separators.
    static func number(_ text: some StringProtocol) -> Int? {
        !text.isEmpty && text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) ? Int(text) : nil
    }

    /// The same with an optional minus before it.
    static func signed(_ text: String) -> Int? {
        text.hasPrefix("-") ? number(text.dropFirst()).map { -$0 } : number(text)
    }
}
