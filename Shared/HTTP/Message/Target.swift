/// The path of a request: its segments, percent-decoded one by one, so that an encoded slash never makes a new segment.
public struct RequestPath: Hashable, Sendable, CustomStringConvertible {
    /// As it was sent, without the query.
    public let raw: String
    /// What stands between the slashes, decoded: `/a/b%2Fc` gives `["a", "b/c"]`, `/` gives `[""]`.
    public let segments: [String]

    /// `nil` where the path could be read in two ways or hides something: no leading slash, an invalid escape, a control
    /// character, text that is not UTF-8, a dot segment however it is spelled.
    public init?(_ raw: String) {
        var segments: [String] = []
        let bytes = raw.utf8
        guard bytes.first == UInt8(ascii: "/") else { return nil }
        for part in bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let segment: String
            if part.contains(UInt8(ascii: "%")) {
                guard let decoded = percentDecoded(part, plusIsSpace: false) else { return nil }
                segment = decoded
            } else {
                segment = String(Substring(part))
            }
            guard segment != ".", segment != "..", segment.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
            segments.append(segment)
        }
        self.raw = raw
        self.segments = segments
    }

    public var description: String { raw }
}

/// The query of a request: names and values in order, decoded as HTML forms encode them (`+` is a space).
public struct Query: Hashable, Sendable, Sequence {
    public struct Item: Hashable, Sendable {
        public let name: String
        public let value: String
    }

    public let items: [Item]

    public init() { items = [] }

    /// `nil` if an escape is invalid, or the text is not UTF-8 or holds NUL.
    public init?(_ raw: some StringProtocol) {
        var items: [Item] = []
        for pair in Array(raw.utf8).split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = percentDecoded(parts[0], plusIsSpace: true),
                let value = percentDecoded(parts.count == 2 ? parts[1] : [], plusIsSpace: true)
            else { return nil }
            items.append(Item(name: name, value: value))
        }
        self.items = items
    }

    /// The first value under `name` (case-sensitive).
    public subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    public func values(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    public func makeIterator() -> IndexingIterator<[Item]> { items.makeIterator() }
}

/// The text with its escapes resolved; `nil` for an invalid escape, NUL, or what is not UTF-8.
func percentDecoded(_ text: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text.makeIterator()
    while let byte = rest.next() {
        switch byte {
        case UInt8(ascii: "%"):
            guard let high = rest.next().flatMap(hexadecimal), let low = rest.next().flatMap(hexadecimal),
                high << 4 | low != 0
            else { return nil }
            bytes.append(high << 4 | low)
        case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
        case 0: return nil
        default: bytes.append(byte)
        }
    }
    return String(validating: bytes, as: UTF8.self)
}
