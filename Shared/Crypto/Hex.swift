import CSodium

/// Hexadecimal text (RFC 4648, section 8), in a time that does not depend on the bytes.
public enum Hex {
    /// Lower-case.
    public static func encode(_ bytes: [UInt8]) -> String {
        Sodium.start()
        let count = bytes.count * 2
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: count + 1) { text in
            sodium_bin2hex(text.baseAddress!, count + 1, bytes, bytes.count)
            return text.withMemoryRebound(to: UInt8.self) { String(decoding: $0.prefix(count), as: UTF8.self) }
        }
    }

    /// `nil` unless `text` is pairs of hexadecimal digits, upper- or lower-case, and nothing else.
    public static func decode(_ text: String) -> [UInt8]? {
        Sodium.start()
        var text = text
        return text.withUTF8 { utf8 -> [UInt8]? in
            if utf8.isEmpty { return [] }
            var isValid = false
            let bytes = [UInt8](unsafeUninitializedCapacity: utf8.count / 2 + 1) { buffer, initialized in
                utf8.withMemoryRebound(to: CChar.self) { characters in
                    let status = sodium_hex2bin(
                        buffer.baseAddress!, buffer.count, characters.baseAddress!, characters.count, nil, &initialized, nil)
                    isValid = status == 0
                }
                if !isValid { initialized = 0 }
            }
            return isValid ? bytes : nil
        }
    }
}
