public import EventSchema

/// An e-mail address in its canonical form: trimmed, NFC, lower case, the domain as A-labels.
///
/// Addresses that differ in nothing else are one. Providers' own rules (dots, tags after a plus sign) are not applied: they
/// are not known for other domains, and change.
public struct EmailAddress: Hashable, Sendable, CustomStringConvertible {
    /// RFC 5321, section 4.5.3.1.3, less the angle brackets.
    public static let maximumBytes = 254
    /// RFC 5321, section 4.5.3.1.1.
    public static let maximumLocalBytes = 64

    /// The canonical form; personal data.
    public let text: String

    /// Reads an address as somebody entered it.
    public init(_ entered: String) throws(IdentifierFault) {
        let trimmed = entered.trimmed
        guard !trimmed.isEmpty else { throw .empty }
        // Composition makes a text three times shorter at best.
        guard trimmed.utf8.count <= Self.maximumBytes * 4 else { throw .tooLong }
        let folded = try Self.fold(trimmed)
        guard folded.unicodeScalars.allSatisfy(Self.isVisible) else { throw .forbiddenCharacter }
        let parts = folded.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw .notOneAtSign }
        let local = try Self.local(parts[0])
        let domain = try DomainName.ascii(String(decoding: parts[1], as: UTF8.self))
        text = "\(local)@\(domain)"
        guard text.utf8.count <= Self.maximumBytes else { throw .tooLong }
    }

    /// The pseudonym that stands for the address in the log.
    public func subject(by routing: Routing) -> Subject { routing.subject(kind: .email, canonical: text) }

    /// For logs: `u***@e***.com`.
    public var masked: String {
        // By scalars: a character may hold the whole local part, and even the @ after it.
        let scalars = text.unicodeScalars
        let domain = scalars.drop { $0 != "@" }.dropFirst()
        let top = domain.reversed().prefix { $0 != "." }.reversed().map(String.init).joined()
        return "\(Self.initial(scalars.prefix { $0 != "@" }))***@\(Self.initial(domain.prefix { $0 != "." }))***.\(top)"
    }

    /// The first letter, where it does not tell most of the word.
    private static func initial(_ word: Substring.UnicodeScalarView) -> String {
        word.count > 2 ? word.first.map(String.init) ?? "" : ""
    }

    /// Masked, so that no address is printed by accident.
    public var description: String { masked }

    /// Lower case in NFC, until neither changes anything: some letters become others in steps, as the Kelvin sign does.
    private static func fold(_ text: String) throws(IdentifierFault) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var folded = text
        for _ in 0..<4 {
            var lower = String.UnicodeScalarView()
            for scalar in folded.nfc.unicodeScalars {
                lower.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
            }
            let next = String(lower).nfc
            // Comparing strings would take canonically equivalent ones for the same.
            if next.utf8.elementsEqual(folded.utf8) { return folded }
            folded = next
        }
        throw .forbiddenCharacter
    }

    /// An address is read by people and compared by machines: it holds nothing that cannot be seen, and nothing that later
    /// versions of Unicode might fold in another way.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return 0x21...0x7e ~= scalar.value }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .privateUse, .surrogate, .unassigned:
            return false
        default: return !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint
        }
    }

    /// A dot-atom (RFC 5322, section 3.2.3) with letters of all scripts (RFC 6531). Quoted local parts are allowed by the
    /// standards, used by nobody, and refused by providers.
    private static func local(_ part: Substring.UTF8View) throws(IdentifierFault) -> Substring {
        guard part.count <= maximumLocalBytes else { throw .localPartTooLong }
        guard part.first != UInt8(ascii: "\"") else { throw .quotedLocalPart }
        for atom in part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard !atom.isEmpty, atom.allSatisfy({ $0 >= 0x80 || isAtomText($0) }) else { throw .localPart }
        }
        return Substring(part)
    }

    private static func isAtomText(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
        }
    }
}
