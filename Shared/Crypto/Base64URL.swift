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
        var text = text
        return text.withUTF8 { decode($0) }
    }

    /// The same for a text in ASCII.
    public static func decode(_ text: [UInt8]) -> [UInt8]? { text.withUnsafeBufferPointer { decode($0) } }

    /// Without a look-up or a branch that depends on what is read, as libsodium does it, in a tenth of its time: every record
    /// that is read holds a few hundred characters.
    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let (groups, rest) = text.count.quotientAndRemainder(dividingBy: 4)
        if rest == 1 { return nil }
        // Negative as soon as a character was none, or the last one had bits left over.
        var fault: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: groups * 3 + 2) { buffer, initialized in
            var position = 0
            for group in 0..<groups {
                let first = sextet(text[4 * group]) << 18 | sextet(text[4 * group + 1]) << 12
                let bits = first | sextet(text[4 * group + 2]) << 6 | sextet(text[4 * group + 3])
                fault |= bits
                buffer[position] = UInt8(truncatingIfNeeded: bits >> 16)
                buffer[position + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                buffer[position + 2] = UInt8(truncatingIfNeeded: bits)
                position += 3
            }
            if rest > 0 {
                let third = rest == 3 ? sextet(text[4 * groups + 2]) : 0
                let bits = sextet(text[4 * groups]) << 18 | sextet(text[4 * groups + 1]) << 12 | third << 6
                fault |= bits | -(bits & (rest == 3 ? 0xff : 0xffff))
                buffer[position] = UInt8(truncatingIfNeeded: bits >> 16)
                position += 1
                if rest == 3 {
                    buffer[position] = UInt8(truncatingIfNeeded: bits >> 8)
                    position += 1
                }
            }
            initialized = position
        }
        return fault < 0 ? nil : bytes
    }

    /// What a character stands for; -1 for one that is not of the alphabet.
    private static func sextet(_ character: UInt8) -> Int32 {
        let code = Int32(character)
        /// All bits where the code lies between the two, none elsewhere.
        func mask(_ lowest: Int32, _ highest: Int32) -> Int32 { ((lowest - 1 - code) & (code - highest - 1)) >> 31 }
        var value: Int32 = -1
        value += mask(65, 90) & (code - 64)
        value += mask(97, 122) & (code - 70)
        value += mask(48, 57) & (code + 5)
        value += mask(45, 45) & 63
        value += mask(95, 95) & 64
        return value
    }
}
