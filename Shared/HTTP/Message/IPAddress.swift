/// An IPv4 or IPv6 address. IPv4-mapped IPv6 (`::ffff:a.b.c.d`) *is* the IPv4 address.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    /// 4 or 16 bytes in network order, left-aligned in two words.
    let high: UInt64
    let low: UInt64
    public let isV4: Bool

    fileprivate init(high: UInt64, low: UInt64, isV4: Bool) {
        self.high = high
        self.low = low
        self.isV4 = isV4
    }

    /// From 4 or 16 bytes in network order; `nil` for any other number of them.
    public init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self.init(v4: bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        case 16:
            self.init(
                high: bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) },
                low: bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        default: return nil
        }
    }

    init(v4 value: UInt32) {
        self.init(high: UInt64(value) << 32, low: 0, isV4: true)
    }

    /// From the two halves of an IPv6 address; folds IPv4-mapped ones.
    init(high: UInt64, low: UInt64) {
        if high == 0, low >> 32 == 0xffff {
            self.init(v4: UInt32(truncatingIfNeeded: low))
        } else {
            self.init(high: high, low: low, isV4: false)
        }
    }

    /// Reads dotted-decimal IPv4 (no leading zeros, four parts) or RFC 4291 IPv6 text, without brackets, port or zone.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        if bytes.contains(UInt8(ascii: ":")) {
            guard let halves = parseV6(bytes[...]) else { return nil }
            self.init(high: halves.high, low: halves.low)
        } else {
            guard let value = parseV4(bytes[...]) else { return nil }
            self.init(v4: value)
        }
    }

    public static let loopbackV4 = IPAddress(v4: 0x7f00_0001)
    public static let loopbackV6 = IPAddress(high: 0, low: 1)

    public var bytes: [UInt8] {
        (0..<(isV4 ? 4 : 16)).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (56 - 8 * UInt64($0 % 8))) }
    }

    /// What limits count by: an IPv4 address itself, of IPv6 the /64 network.
    public var network: IPAddress { isV4 ? self : IPAddress(high: high, low: 0, isV4: false) }

    /// Dotted decimal, or the shortest IPv6 form of RFC 5952.
    public var description: String {
        isV4 ? bytes.map(String.init).joined(separator: ".") : v6Text(high: high, low: low)
    }
}

/// A block of addresses in CIDR notation (`10.0.0.0/8`, `fd00::/8`); a bare address is a block of one.
public struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
    public let base: IPAddress
    /// Number of leading bits that count: 0–32 or 0–128.
    public let prefixLength: Int

    /// `nil` if the text is malformed. Bits behind the prefix do not count.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let base = IPAddress(String(decoding: parts[0], as: UTF8.self)) else { return nil }
        let isMapped = base.isV4 && parts[0].contains(UInt8(ascii: ":"))
        var length = base.isV4 ? 32 : 128
        if parts.count == 2 {
            guard (1...3).contains(parts[1].count), parts[1].allSatisfy({ $0 &- 0x30 < 10 }),
                var given = Int(String(decoding: parts[1], as: UTF8.self))
            else { return nil }
            if isMapped { given -= 96 }
            guard (0...length).contains(given) else { return nil }
            length = given
        }
        let mask = AddressBlock.mask(length)
        self.base = IPAddress(high: base.high & mask.high, low: base.low & mask.low, isV4: base.isV4)
        prefixLength = length
    }

    public func contains(_ address: IPAddress) -> Bool {
        guard address.isV4 == base.isV4 else { return false }
        let mask = AddressBlock.mask(prefixLength)
        return address.high & mask.high == base.high && address.low & mask.low == base.low
    }

    private static func mask(_ length: Int) -> (high: UInt64, low: UInt64) {
        (
            length == 0 ? 0 : UInt64.max << UInt64(max(0, 64 - length)),
            length <= 64 ? 0 : UInt64.max << UInt64(128 - length)
        )
    }

    public var description: String { "\(base)/\(prefixLength)" }
}

private func parseV4(_ text: ArraySlice<UInt8>) -> UInt32? {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var value: UInt32 = 0
    for part in parts {
        guard (1...3).contains(part.count), part.count == 1 || part.first != 0x30 else { return nil }
        var number: UInt32 = 0
        for digit in part {
            guard digit &- 0x30 < 10 else { return nil }
            number = number * 10 + UInt32(digit &- 0x30)
        }
        guard number < 256 else { return nil }
        value = value << 8 | number
    }
    return value
}

private func parseV6(_ text: ArraySlice<UInt8>) -> (high: UInt64, low: UInt64)? {
    let colon = UInt8(ascii: ":")
    /// The groups of one side of `::`; an IPv4 tail counts as two.
    func groups(_ side: ArraySlice<UInt8>, mayEndInV4: Bool) -> [UInt16]? {
        guard !side.isEmpty else { return [] }
        let parts = side.split(separator: colon, omittingEmptySubsequences: false)
        var found: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if mayEndInV4, index == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                guard let tail = parseV4(part) else { return nil }
                found += [UInt16(tail >> 16), UInt16(truncatingIfNeeded: tail)]
                continue
            }
            guard (1...4).contains(part.count) else { return nil }
            var number: UInt16 = 0
            for byte in part {
                guard let digit = hexadecimal(byte) else { return nil }
                number = number << 4 | UInt16(digit)
            }
            found.append(number)
        }
        return found
    }
    let gap = text.indices.dropLast().first { text[$0] == colon && text[$0 + 1] == colon }
    let all: [UInt16]
    if let gap {
        guard let before = groups(text[..<gap], mayEndInV4: false), let after = groups(text[(gap + 2)...], mayEndInV4: true),
            before.count + after.count <= 7
        else { return nil }
        all = before + Array(repeating: 0, count: 8 - before.count - after.count) + after
    } else {
        guard let found = groups(text, mayEndInV4: true), found.count == 8 else { return nil }
        all = found
    }
    return (all[..<4].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }, all[4...].reduce(UInt64(0)) { $0 << 16 | UInt64($1) })
}

private func v6Text(high: UInt64, low: UInt64) -> String {
    let groups = [high, low].flatMap { half in (0..<4).map { UInt16(truncatingIfNeeded: half >> (48 - 16 * UInt64($0))) } }
    // The longest run of two or more zero groups, the first of equals.
    var best = 0..<0
    var start = 0
    while start < 8 {
        guard groups[start] == 0 else {
            start += 1
            continue
        }
        let end = groups[start...].firstIndex { $0 != 0 } ?? 8
        if end - start > max(1, best.count) { best = start..<end }
        start = end
    }
    func text(_ range: Range<Int>) -> String { groups[range].map { String($0, radix: 16) }.joined(separator: ":") }
    return best.isEmpty ? text(0..<8) : text(0..<best.lowerBound) + "::" + text(best.upperBound..<8)
}

/// The value of a hexadecimal digit.
func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
}
