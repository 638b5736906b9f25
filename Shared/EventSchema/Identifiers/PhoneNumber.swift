import CPhoneNumber
public import EventSchema

/// A phone number in its canonical form: E.164, `+12025550148`.
public struct PhoneNumber: Hashable, Sendable, CustomStringConvertible {
    /// The country whose numbers may be entered without a country code (ISO 3166-1 alpha-2, `US`).
    public struct Region: Hashable, Sendable {
        public let code: String

        /// `nil` where there is no such region, or its numbering plan is not known. In any case.
        public init?(_ code: String) {
            guard code.utf8.count == 2, code.utf8.allSatisfy({ 65...90 ~= $0 & ~0x20 }) else { return nil }
            let upper = code.uppercased()
            guard latchkey_phone_region_is_known(upper) else { return nil }
            self.code = upper
        }
    }

    /// The canonical form; personal data.
    public let text: String

    /// Reads a number as somebody entered it: digits of any script, spaces, hyphens, dots, slashes and brackets between them.
    /// Without a region a number must begin with `+` and its country code.
    public init(_ entered: String, region: Region? = nil) throws(IdentifierFault) {
        let trimmed = entered.trimmed
        guard !trimmed.isEmpty else { throw .empty }
        let dialled = try Self.dialled(trimmed)
        let e164 = String(unsafeUninitializedCapacity: 32) { buffer in
            buffer.withMemoryRebound(to: CChar.self) {
                latchkey_phone_e164(dialled, dialled.utf8.count, region?.code ?? "ZZ", $0.baseAddress, $0.count)
            }
        }
        guard Self.isE164(e164) else { throw .phoneNumber }
        text = e164
    }

    /// The pseudonym that stands for the number in the log.
    public func subject(by routing: Routing) -> Subject { routing.subject(kind: .phone, canonical: text) }

    /// For logs: `+12***48`.
    public var masked: String { "\(text.prefix(3))***\(text.suffix(2))" }

    /// Masked, so that no number is printed by accident.
    public var description: String { masked }

    /// The digits in ASCII, after the plus sign if there is one. The library is given no more than that: it would find numbers
    /// inside of sentences and read letters and extensions, none of which is meant here.
    private static func dialled(_ entered: String) throws(IdentifierFault) -> String {
        var plus = false
        var digits = ""
        for scalar in entered.unicodeScalars {
            switch scalar {
            case "+", "\u{ff0b}":
                guard !plus, digits.isEmpty else { throw .phoneNumber }
                plus = true
            case "-", "(", ")", ".", "/", "\u{2010}"..."\u{2015}", "\u{2212}", "\u{ff08}", "\u{ff09}", "\u{ff0d}"..."\u{ff0f}":
                continue
            default:
                switch scalar.properties.generalCategory {
                case .decimalNumber: digits += String(Int(scalar.properties.numericValue ?? 0))
                case .spaceSeparator: continue
                default: throw .phoneNumber
                }
            }
        }
        // The longest number has 15, before it may stand a prefix for calls abroad.
        guard 1...24 ~= digits.utf8.count else { throw .phoneNumber }
        return plus ? "+" + digits : digits
    }

    /// A plus sign and 7 to 15 digits, the first of them not 0.
    private static func isE164(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst()
        return text.utf8.first == UInt8(ascii: "+") && 7...15 ~= digits.count && digits.first != UInt8(ascii: "0")
            && digits.allSatisfy { 48...57 ~= $0 }
    }
}
