@_spi(_Unicode) import Swift

extension String {
    /// The canonical composition (Unicode Standard Annex #15): texts that look the same because they are canonically
    /// equivalent become the same bytes.
    ///
    /// The standard library normalises for every comparison of strings, and gives the result under this name to Foundation,
    /// which Latchkey does without.
    public var nfc: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        var composed = String.UnicodeScalarView()
        composed.append(contentsOf: _nfc)
        return String(composed)
    }
}
