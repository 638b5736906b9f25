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
    public init?(text: String) { self.init(ascii: text.utf8) }

    /// Reads the text form from its bytes.
    init?(ascii text: some Sequence<UInt8>) {
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        var index = 0
        for byte in text {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                let digit: UInt8
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
                case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
                default: return nil
                }
                if digits < 16 { halves.0 = halves.0 << 4 | UInt64(digit) } else { halves.1 = halves.1 << 4 | UInt64(digit) }
                digits += 1
            }
            index += 1
        }
        guard index == 36 else { return nil }
        (high, low) = halves
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
