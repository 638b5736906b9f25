import CSodium

/// `$scheme$v=…$name=value,name=value$salt$hash` (the PHC string format), as far as password hashes use it.
struct PHCString {
    var scheme: Substring
    var version: Substring?
    /// Names in the order of the text, none twice.
    var parameters: [(name: Substring, value: Substring)]
    var salt: [UInt8]
    var hash: [UInt8]

    /// `nil` for a text of another form.
    init?(_ text: String) {
        var fields = text.split(separator: "$", omittingEmptySubsequences: false)[...]
        guard fields.popFirst()?.isEmpty == true, let scheme = fields.popFirst(), !scheme.isEmpty else { return nil }
        self.scheme = scheme
        if let field = fields.first, field.hasPrefix("v=") {
            version = field.dropFirst(2)
            fields.removeFirst()
        }
        guard fields.count == 3, let list = fields.popFirst() else { return nil }
        parameters = []
        for item in list.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parameters.contains(where: { $0.name == parts[0] }) else { return nil }
            parameters.append((parts[0], parts[1]))
        }
        guard let saltText = fields.popFirst(), let salt = PlainBase64.decode(saltText), let hashText = fields.popFirst(),
            let hash = PlainBase64.decode(hashText)
        else { return nil }
        self.salt = salt
        self.hash = hash
    }

    /// The values of exactly these parameters, whatever their order, as numbers without sign and leading zeros.
    func numbers(_ names: String...) -> [UInt32]? {
        guard parameters.count == names.count else { return nil }
        var numbers: [UInt32] = []
        for name in names {
            guard let value = parameters.first(where: { $0.name == name })?.value, let number = DecimalNumber.read(value) else {
                return nil
            }
            numbers.append(number)
        }
        return numbers
    }
}

enum DecimalNumber {
    /// `nil` for a sign, leading zeros, anything else around the digits, and what does not fit.
    static func read(_ text: some StringProtocol) -> UInt32? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), text.utf8.first != 48 || text.utf8.count == 1
        else { return nil }
        return UInt32(text)
    }
}

/// Base64 with the alphabet of RFC 4648, section 4.
enum PlainBase64 {
    /// Without padding, as the PHC string format has it.
    static func encode(_ bytes: [UInt8]) -> String {
        String(Base64URL.encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    }

    /// Without padding.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        if text.utf8.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }) { return nil }
        return Base64URL.decode(String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }))
    }

    /// With its padding.
    static func decodePadded(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count % 4 == 0 else { return nil }
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return padding <= 2 ? decode(text.dropLast(padding)) : nil
    }
}
