/// Header fields in the order in which they were sent. Names compare without regard to ASCII case; a name may occur
/// several times.
public struct Headers: Hashable, Sendable, Sequence, ExpressibleByDictionaryLiteral {
    /// One field as it was sent.
    public struct Field: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    private(set) var fields: [Field]

    public init() { fields = [] }

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    public var isEmpty: Bool { fields.isEmpty }
    public var count: Int { fields.count }

    /// The first value under `name`. Setting replaces every value under it; `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Headers.same($0.name, name) }?.value }
        set {
            guard let newValue else { return fields.removeAll { Headers.same($0.name, name) } }
            guard let first = fields.firstIndex(where: { Headers.same($0.name, name) }) else {
                return append(name, newValue)
            }
            fields[first].value = newValue
            if first + 1 < fields.count {
                let later = fields[(first + 1)...].filter { !Headers.same($0.name, name) }
                fields.replaceSubrange((first + 1)..., with: later)
            }
        }
    }

    /// Every value under `name`, in order.
    public func values(_ name: String) -> [String] {
        fields.compactMap { Headers.same($0.name, name) ? $0.value : nil }
    }

    /// How many fields stand under `name`.
    public func count(of name: String) -> Int {
        fields.reduce(0) { Headers.same($1.name, name) ? $0 + 1 : $0 }
    }

    public func contains(_ name: String) -> Bool { fields.contains { Headers.same($0.name, name) } }

    /// Adds a field behind those that stand.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Adds a field unless one of that name stands already.
    public mutating func setDefault(_ name: String, _ value: @autoclosure () -> String) {
        if !contains(name) { append(name, value()) }
    }

    /// Adds `token` to a comma-separated field (`Vary`, `Allow`) unless it is listed there.
    public mutating func appendToken(_ name: String, _ token: String) {
        guard let listed = self[name] else { return append(name, token) }
        let tokens = listed.split(separator: ",").map { trimmed($0.utf8) }
        if !tokens.contains(where: { Headers.same($0, token) || $0 == "*" }) { self[name] = "\(listed), \(token)" }
    }

    mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }

    /// ASCII case-insensitive comparison of field names.
    static func same(_ left: String, _ right: String) -> Bool {
        let left = left.utf8
        let right = right.utf8
        guard left.count == right.count else { return false }
        return left.elementsEqual(right) { $0 == $1 || lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }
}

/// The text without spaces and tabs at its ends (optional whitespace of RFC 9110 §5.6.3).
func trimmed(_ text: some BidirectionalCollection<UInt8>) -> String {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    guard let first = text.firstIndex(where: { !isBlank($0) }), let last = text.lastIndex(where: { !isBlank($0) }) else {
        return ""
    }
    return String(decoding: text[first...last], as: UTF8.self)
}
