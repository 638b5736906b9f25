/// The hashes of the newest events of a chain, by sequence: 8 bytes of each, which is enough to know a copy again.
struct SequenceMemory: Sendable {
    /// For how many events it remembers them.
    static let capacity = 1 << 20

    private var prefixes: [UInt64] = []
    private var last: Int64 = 0

    /// Sequences come in order; one that was there before takes the place of all from it on.
    mutating func remember(_ sequence: Int64, _ hash: [UInt8]) {
        let place = Int(sequence) & (Self.capacity - 1)
        if place < prefixes.count {
            prefixes[place] = Self.prefix(hash)
        } else {
            // A chain that is read from its middle on begins anywhere.
            while prefixes.count < place { prefixes.append(0) }
            prefixes.append(Self.prefix(hash))
        }
        last = sequence
    }

    /// Whether the chain has this event; `nil` where that is forgotten.
    func holds(_ sequence: Int64, _ hash: [UInt8]) -> Bool? {
        guard sequence > 0, sequence <= last else { return false }
        guard sequence > last - Int64(Self.capacity) else { return nil }
        let place = Int(sequence) & (Self.capacity - 1)
        return place < prefixes.count && prefixes[place] == Self.prefix(hash)
    }

    private static func prefix(_ hash: [UInt8]) -> UInt64 { hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
