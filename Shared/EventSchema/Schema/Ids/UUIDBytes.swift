/// The 16 bytes of a UUID and their text form (RFC 9562, section 4): 36 characters, lower case.
public struct UUIDBytes: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// `nil` unless there are exactly 16 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
        }
        (self.high, self.low) = (high, low)
    }

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Reads the text form, in either case. `nil` for anything else, other spellings of UUIDs (braces, no hyphens) too.
    public init?(text: String) {
        var text = text
        guard let uuid = text.withUTF8({ UUIDBytes(ascii: $0) }) else { return nil }
        self = uuid
    }

    /// Reads the text form from its bytes.
    init?(ascii text: [UInt8]) {
        guard let uuid = text.withUnsafeBufferPointer({ UUIDBytes(ascii: $0) }) else { return nil }
        self = uuid
    }

    private init?(ascii text: UnsafeBufferPointer<UInt8>) {
        guard text.count == 36 else { return nil }
        var isHexadecimal = true
        /// What these digits stand for.
        @inline(__always)
        func number(_ digits: Range<Int>) -> UInt64 {
            var number: UInt64 = 0
            for index in digits {
                let digit: UInt8
                switch text[index] {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = text[index] - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = text[index] - UInt8(ascii: "a") + 10
                case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = text[index] - UInt8(ascii: "A") + 10
                default:
                    isHexadecimal = false
                    return 0
                }
                number = number << 4 | UInt64(digit)
            }
            return number
        }
        high = number(0..<8) << 32 | number(9..<13) << 16 | number(14..<18)
        low = number(19..<23) << 48 | number(24..<36)
        guard isHexadecimal, [8, 13, 18, 23].allSatisfy({ text[$0] == UInt8(ascii: "-") }) else { return nil }
    }

    /// All 16, in network order.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            for index in 0..<8 {
                buffer[index] = UInt8(truncatingIfNeeded: high >> (56 - 8 * index))
                buffer[8 + index] = UInt8(truncatingIfNeeded: low >> (56 - 8 * index))
            }
            count = 16
        }
    }

    public var text: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            let digits: StaticString = "0123456789abcdef"
            var position = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                let half = index < 16 ? high : low
                buffer[position] = digits.utf8Start[Int(half >> (60 - 4 * (index & 15)) & 15)]
                position += 1
            }
            return 36
        }
    }

    /// RFC 9562, section 4.2: 4 for random ids, 8 for those with a layout of their own.
    var version: Int { Int(high >> 12 & 15) }

    /// Whether the variant is that of RFC 9562 (binary 10).
    var isVariantRFC9562: Bool { low >> 62 == 0b10 }

    /// The same bytes, marked with a version and the variant of RFC 9562.
    func marked(version: UInt64) -> UUIDBytes {
        UUIDBytes(high: high & ~0xf000 | version << 12, low: low & ~(0b11 << 62) | 0b10 << 62)
    }
}

/// An id that is a UUID.
public protocol UUIDIdentifier: Hashable, Sendable, CustomStringConvertible {
    var uuid: UUIDBytes { get }

    /// `nil` where these bytes are no id of this kind.
    init?(uuid: UUIDBytes)
}

extension UUIDIdentifier {
    /// Reads the text form of a UUID. `nil` for anything else.
    public init?(_ text: String) {
        guard let uuid = UUIDBytes(text: text) else { return nil }
        self.init(uuid: uuid)
    }

    /// Reads the text form of a UUID from its bytes. `nil` for anything else.
    public init?(ascii text: [UInt8]) {
        guard let uuid = UUIDBytes(ascii: text) else { return nil }
        self.init(uuid: uuid)
    }

    /// `nil` unless there are exactly 16 bytes that are an id of this kind.
    public init?(bytes: some Collection<UInt8>) {
        guard let uuid = UUIDBytes(bytes) else { return nil }
        self.init(uuid: uuid)
    }

    public var text: String { uuid.text }
    public var bytes: [UInt8] { uuid.bytes }
    public var description: String { text }
}
