/// A bounded memory: what came last stays, what came first goes.
struct RecentMemory<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    private var entries: [Key: (value: Value, age: Int)] = [:]
    /// What came, in order. What has gone or come anew since stands here too until it is its turn.
    private var order: [(key: Key, age: Int)] = []
    private var first = 0
    private var age = 0

    /// - Parameter limit: how many it holds at most; at least 1.
    init(limit: Int) { self.limit = limit }

    var count: Int { entries.count }

    subscript(key: Key) -> Value? { entries[key]?.value }

    /// What had to go for it, if anything had to.
    @discardableResult
    mutating func insert(_ value: Value, for key: Key) -> (key: Key, value: Value)? {
        age += 1
        entries[key] = (value, age)
        order.append((key, age))
        let gone = entries.count > limit ? removeFirst() : nil
        if order.count > 4 * limit {
            order = order[first...].filter { entries[$0.key]?.age == $0.age }
            first = 0
        }
        return gone
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? { entries.removeValue(forKey: key)?.value }

    mutating func removeAll() {
        entries = [:]
        order = []
        first = 0
    }

    /// Removes from the first on what has had its time.
    mutating func removeFirst(while isOver: (Value) -> Bool) {
        while let oldest, isOver(oldest.value) { removeFirst() }
    }

    /// What came first of all that is there.
    private var oldest: (key: Key, value: Value)? {
        mutating get {
            while first < order.count {
                let (key, age) = order[first]
                if let entry = entries[key], entry.age == age { return (key, entry.value) }
                first += 1
            }
            return nil
        }
    }

    @discardableResult
    private mutating func removeFirst() -> (key: Key, value: Value)? {
        guard let oldest else { return nil }
        entries[oldest.key] = nil
        return oldest
    }
}
