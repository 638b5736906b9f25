extension JSON {
    /// How deep arrays and objects may be nested in a text.
    public static let maximumDepth = 32

    /// Reads a text as RFC 8259 has it, and nothing else: UTF-8 without a byte order mark, one value, white space around
    /// it at most. Refused as well: names that stand twice in one object, surrogates without their other half, more than
    /// `maximumDepth` levels, numbers that no `Double` can come near to. U+0000 is accepted when it is escaped.
    public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON {
        var parser = JSONParser(bytes)
        return try parser.document()
    }

    public static func parse(_ text: String) throws(JSONError) -> JSON { try parse(Array(text.utf8)) }
}
