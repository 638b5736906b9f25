/// Base64 with the URL-safe alphabet and without padding (RFC 4648, section 5), in a time that does not depend on the
/// bytes: tokens and keys are written in it.
///
/// Without a look-up or a branch that depends on what is read or written, as libsodium does it, in a small part of its time: every
/// record holds a few hundred characters. Sixteen of them go at once.
public enum Base64URL {
    public static func encode(_ bytes: [UInt8]) -> String {
        let count = (bytes.count / 3) * 4 + [0, 2, 3][bytes.count % 3]
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count + spare) { text in
            bytes.withUnsafeBytes { write($0, to: UnsafeMutableRawPointer(text.baseAddress!)) }
            return String(decoding: text.prefix(count), as: UTF8.self)
        }
    }

    /// Writes the characters of some bytes to `out`, and up to fifteen others behind them.
    private static func write(_ bytes: UnsafeRawBufferPointer, to out: UnsafeMutableRawPointer) {
        // Each block takes one byte more than it stands for.
        var block = 0
        while 12 * block + 13 <= bytes.count {
            out.storeBytes(of: characters(bytes, at: 12 * block), toByteOffset: 16 * block, as: SIMD16<Int8>.self)
            block += 1
        }
        guard 12 * block < bytes.count else { return }
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 16) { tail in
            tail.initializeMemory(as: UInt8.self, repeating: 0)
            tail.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[(12 * block)...]))
            out.storeBytes(of: characters(UnsafeRawBufferPointer(tail), at: 0), toByteOffset: 16 * block, as: SIMD16<Int8>.self)
        }
    }

    /// The characters that twelve bytes are written as.
    private static func characters(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> SIMD16<Int8> {
        var bits = SIMD4<UInt32>()
        for index in 0..<4 { bits[index] = bytes.loadUnaligned(fromByteOffset: offset + 3 * index, as: UInt32.self).bigEndian }
        let high = (bits &>> 26) | (bits &>> 12) & 0x0000_3f00
        let low = (bits &<< 2) & 0x003f_0000 | (bits &<< 16) & 0x3f00_0000
        let sextets = unsafeBitCast(high | low, to: SIMD16<Int8>.self)
        /// All bits where a sextet is so great or greater, none elsewhere.
        @inline(__always)
        func mask(_ lowest: Int8) -> SIMD16<Int8> { ((lowest &- 1) &- sextets) &>> 7 }
        var characters = sextets &+ 65
        characters = characters &+ (mask(26) & 6)
        characters = characters &+ (mask(52) & -75)
        characters = characters &+ (mask(62) & -13)
        return characters &+ (mask(63) & 49)
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

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let count = count(of: text)
        var isWellFormed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count + spare) { buffer, initialized in
            isWellFormed = read(text, to: UnsafeMutableRawPointer(buffer.baseAddress))
            initialized = count
        }
        return isWellFormed ? bytes : nil
    }

    /// How many bytes `decode` would give; `nil` where it would give none.
    static func count(of text: Substring) -> Int? {
        var text = text
        return text.withUTF8 { read($0, to: nil) ? count(of: $0) : nil }
    }

    private static func count(of text: UnsafeBufferPointer<UInt8>) -> Int { text.count * 3 / 4 }

    /// What is written at once may be so much longer than what a text stands for.
    private static let spare = 16

    /// Writes what a text stands for to `out`, if there is one, and says whether it stands for anything.
    private static func read(_ text: UnsafeBufferPointer<UInt8>, to out: UnsafeMutableRawPointer?) -> Bool {
        guard text.count % 4 != 1 else { return false }
        guard let characters = UnsafeRawPointer(text.baseAddress) else { return true }
        let (whole, rest) = text.count.quotientAndRemainder(dividingBy: 16)
        var faults = SIMD16<Int8>()
        for block in 0..<whole {
            let sextets = sextets(characters.loadUnaligned(fromByteOffset: 16 * block, as: SIMD16<Int8>.self))
            faults |= sextets
            if let out { write(sextets, to: out + 12 * block) }
        }
        if rest > 0 {
            // The letter A stands for six zeros.
            var tail = SIMD16<Int8>(repeating: Int8(UInt8(ascii: "A")))
            for index in 0..<rest { tail[index] = Int8(bitPattern: text[16 * whole + index]) }
            let sextets = sextets(tail)
            faults |= sextets
            if let out { write(sextets, to: out + 12 * whole) }
            // Bits left over in the last character make it negative.
            let unused: Int8 = [0, 0, 0b1111, 0b11][text.count % 4]
            faults[0] |= -(sextets[rest - 1] & unused)
        }
        return faults.min() >= 0
    }

    /// What characters stand for; negative for one that is not of the alphabet.
    private static func sextets(_ characters: SIMD16<Int8>) -> SIMD16<Int8> {
        /// All bits where a character in ASCII lies between the two, none elsewhere.
        @inline(__always)
        func mask(_ lowest: Int8, _ highest: Int8) -> SIMD16<Int8> {
            (((lowest &- 1) &- characters) & (characters &- (highest &+ 1))) &>> 7
        }
        var values = SIMD16<Int8>(repeating: -1)
        values = values &+ (mask(65, 90) & (characters &- 64))
        values = values &+ (mask(97, 122) & (characters &- 70))
        values = values &+ (mask(48, 57) & (characters &+ 5))
        values = values &+ (mask(45, 45) & 63)
        values = values &+ (mask(95, 95) & 64)
        // What is not in ASCII is negative.
        return values | (characters & -128)
    }

    /// Puts sixteen times six bits together to twelve bytes, and writes a zero behind them.
    private static func write(_ sextets: SIMD16<Int8>, to out: UnsafeMutableRawPointer) {
        let words = unsafeBitCast(sextets, to: SIMD4<UInt32>.self)
        let high = (words & 0x3f) &<< 26 | (words &<< 12) & 0x03f0_0000
        let low = (words &>> 2) & 0x000f_c000 | (words &>> 16) & 0x0000_3f00
        let bits = high | low
        for index in 0..<4 { out.storeBytes(of: bits[index].bigEndian, toByteOffset: 3 * index, as: UInt32.self) }
    }
}
