import CIDN2

/// Domain names in the one form that they are compared in: A-labels, lower case (RFC 5891; Unicode TR #46, non-transitional).
enum DomainName {
    /// The A-label form of a lower-case name in NFC, without NUL.
    static func ascii(_ name: String) throws(IdentifierFault) -> String {
        let isInternational = name.utf8.contains { $0 >= 0x80 } || name.contains("xn--")
        let ascii = isInternational ? try lookup(name) : name
        try check(ascii)
        return ascii
    }

    /// Host names as in RFC 1123, section 2.1, with at least two labels; the last one is never a number, so that an address
    /// of a machine is no domain.
    private static func check(_ name: String) throws(IdentifierFault) {
        guard name.utf8.contains(UInt8(ascii: ".")) else { throw .domainWithoutDot }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for label in labels {
            guard 1...63 ~= label.count, label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-") else { throw .domain }
            guard label.allSatisfy({ 97...122 ~= $0 || 48...57 ~= $0 || $0 == UInt8(ascii: "-") }) else { throw .domain }
        }
        guard let last = labels.last, !last.allSatisfy({ 48...57 ~= $0 }), name.utf8.count <= 253 else { throw .domain }
    }

    /// Maps, normalises and encodes. A name that is in A-labels already is decoded first: what its author might have written
    /// in other characters, in capitals for example, must not become a second name for the same domain.
    private static func lookup(_ name: String) throws(IdentifierFault) -> String {
        let encoded = try encode(name)
        let decoded = try convert(encoded) { idn2_to_unicode_8z8z($0, $1, 0) }
        guard try encode(decoded) == encoded else { throw .domain }
        return encoded
    }

    /// Under the rules of STD 3 the library takes out what they forbid, an underscore for example, rather than fail, and
    /// without them it lets symbols pass: only a name for which both agree is one.
    private static func encode(_ name: String) throws(IdentifierFault) -> String {
        let flags = IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue
        let encoded = try convert(name) { idn2_to_ascii_8z($0, $1, CInt(flags)) }
        let strict = try convert(name) { idn2_to_ascii_8z($0, $1, CInt(flags | IDN2_USE_STD3_ASCII_RULES.rawValue)) }
        guard strict == encoded else { throw .domain }
        return encoded
    }

    private static func convert(
        _ name: String, _ body: (UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt
    ) throws(IdentifierFault) -> String {
        var output: UnsafeMutablePointer<CChar>?
        let status = name.withCString { body($0, &output) }
        guard status == IDN2_OK.rawValue, let output else { throw .domain }
        defer { idn2_free(output) }
        return String(cString: output)
    }
}
