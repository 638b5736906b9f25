public import Crypto

extension SettingType where Value == Secret {
    /// So many bytes, as hexadecimal digits or base64 (either alphabet, padded or not).
    public static func secret(bytes count: Int) -> SettingType {
        SettingType(
            expectation: "\(count) bytes in hexadecimal or base64", isSecret: true, placeholder: Secret([]),
            parse: { text in SecretText.bytes(text, count: count).map { Secret($0) } }, render: { _ in "***" })
    }
}

extension SettingType where Value == [Secret] {
    /// Any number of secrets, separated by commas.
    public static func secrets(bytes count: Int) -> SettingType {
        SettingType(
            expectation: "secrets of \(count) bytes in hexadecimal or base64, separated by commas", isSecret: true,
            placeholder: [],
            parse: { text in
                let secrets = text.split(separator: ",", omittingEmptySubsequences: false).map { item in
                    SecretText.bytes(String(item), count: count).map { Secret($0) }
                }
                return secrets.contains { $0 == nil } ? nil : secrets.compactMap { $0 }
            }, render: { _ in "***" })
    }
}

/// A key with the number that messages name it by.
public struct NumberedSecret: Sendable {
    public var number: Int
    public var secret: Secret

    public init(number: Int, secret: Secret) {
        self.number = number
        self.secret = secret
    }
}

extension SettingType where Value == [NumberedSecret] {
    /// `1:<key>,2:<key>`: keys of so many bytes, each with its own number, at least one, oldest first.
    public static func numberedSecrets(bytes count: Int) -> SettingType {
        SettingType(
            expectation: "a list like 1:KEY,2:KEY, each KEY \(count) bytes in hexadecimal or base64 and each number used once",
            isSecret: true, placeholder: [],
            parse: { text in
                var keys: [NumberedSecret] = []
                for item in text.split(separator: ",", omittingEmptySubsequences: false) {
                    let parts = Trimmed.spaces(item).split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                    guard parts.count == 2, let number = DecimalText.number(parts[0]), (1...0xffff).contains(number),
                        let bytes = SecretText.bytes(String(parts[1]), count: count),
                        !keys.contains(where: { $0.number == number })
                    else { return nil }
                    keys.append(NumberedSecret(number: number, secret: Secret(bytes)))
                }
                return keys.isEmpty ? nil : keys
            }, render: { _ in "***" })
    }
}

enum SecretText {
    /// Reads hexadecimal digits where the length fits, base64 otherwise.
    static func bytes(_ text: String, count: Int) -> [UInt8]? {
        let text = Trimmed.spaces(text)
        if text.utf8.count == 2 * count, let bytes = hexadecimal(text) { return bytes }
        guard let bytes = base64(text), bytes.count == count else { return nil }
        return bytes
    }

    private static func hexadecimal(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for byte in text.utf8 {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
            if let first = high {
                bytes.append(first << 4 | UInt8(digit))
                high = nil
            } else {
                high = UInt8(digit)
            }
        }
        return high == nil ? bytes : nil
    }

    private static func base64(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        guard text.utf8.count - digits.count <= 2 else { return nil }
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = digit - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = digit - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        // A lone digit, or bits that belong to no byte, are a copy that went wrong.
        guard count < 6, bits & ((1 << UInt32(count)) - 1) == 0 else { return nil }
        return bytes
    }
}
