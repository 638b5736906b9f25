/// A sender as settings name it: `no-reply@example.com`, or `Latchkey <no-reply@example.com>`.
public struct MailAddress: Equatable, Sendable, CustomStringConvertible {
    public var name: String?
    /// ASCII: the domain as A-labels.
    public var address: String

    /// `nil` where it is no address, or could be taken for more than one.
    public init?(_ text: String) {
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) else { return nil }
        var address = text
        var name = ""
        if text.hasSuffix(">"), let open = text.lastIndex(of: "<") {
            address = String(text[text.index(after: open)...].dropLast())
            name = String(text[..<open])
            while name.last == " " { name.removeLast() }
            if name.count >= 2, name.hasPrefix("\""), name.hasSuffix("\"") { name = String(name.dropFirst().dropLast()) }
        }
        guard Self.isSound(address), !name.contains("<"), !name.contains(">"), !name.contains("\"") else { return nil }
        self.address = address
        self.name = name.isEmpty ? nil : name
    }

    public var domain: String { String(address[address.lastIndex(of: "@")!...].dropFirst()) }

    public var description: String { name.map { "\($0) <\(address)>" } ?? address }

    /// A dot-atom and a domain (RFC 5322, section 3.4.1).
    private static func isSound(_ address: String) -> Bool {
        let parts = address.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard address.utf8.count <= 254, parts.count == 2 else { return false }
        let isLetterOrDigit = { (byte: UInt8) in 48...57 ~= byte || 65...90 ~= byte || 97...122 ~= byte }
        func areAtoms(_ text: Substring.UTF8View, _ others: String) -> Bool {
            text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
                !$0.isEmpty && $0.allSatisfy { isLetterOrDigit($0) || others.utf8.contains($0) }
            }
        }
        return areAtoms(parts[0], "!#$%&'*+-/=?^_`{|}~") && areAtoms(parts[1], "-")
    }
}
