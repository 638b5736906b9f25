import CSodium

/// Base64 with the URL-safe alphabet and without padding (RFC 4648, section 5), in a time that does not depend on the
/// bytes: tokens and keys are written in it.
public enum Base64URL {
    public static func encode(_ bytes: [UInt8]) -> String {
        Sodium.start()
        let count = (bytes.count / 3) * 4 + [0, 2, 3][bytes.count % 3]
        // libsodium ends what it writes with a zero byte.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: count + 1) { text in
            sodium_bin2base64(text.baseAddress!, count + 1, bytes, bytes.count, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
            return text.withMemoryRebound(to: UInt8.self) { String(decoding: $0.prefix(count), as: UTF8.self) }
        }
    }

    /// `nil` unless `text` is exactly what `encode` gives for some bytes: padding, white space, characters of the plain
    /// alphabet and bits left over at the end are refused, so that no two texts stand for the same bytes.
    public static func decode(_ text: String) -> [UInt8]? { decode(text[...]) }

    static func decode(_ text: Substring) -> [UInt8]? {
        Sodium.start()
        var text = text
        return text.withUTF8 { utf8 -> [UInt8]? in
            if utf8.isEmpty { return [] }
            var isValid = false
            let bytes = [UInt8](unsafeUninitializedCapacity: utf8.count / 4 * 3 + 3) { buffer, initialized in
                utf8.withMemoryRebound(to: CChar.self) { characters in
                    let status = sodium_base642bin(
                        buffer.baseAddress!, buffer.count, characters.baseAddress!, characters.count, nil, &initialized, nil,
                        sodium_base64_VARIANT_URLSAFE_NO_PADDING)
                    isValid = status == 0
                }
                if !isValid { initialized = 0 }
            }
            return isValid ? bytes : nil
        }
    }
}
