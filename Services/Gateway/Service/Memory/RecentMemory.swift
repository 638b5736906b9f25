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

    subscript(key: Key) -> Value? { entries[key]?.value }
    var count: Int { entries.count }

    mutating func insert(_ value: Value, for key: Key) {
        age += 1
        entries[key] = (value, age)
        order.append((key, age))
        if entries.count > limit, let oldest { remove(oldest.key) }
        if order.count > 4 * limit {
            order = order[first...].filter { entries[$0.key]?.age == $0.age }
            first = 0
        }
    }

    mutating func remove(_ key: Key) { entries[key] = nil }

    /// Removes from the oldest on, up to the first that is not over.
    mutating func removeOldest(while isOver: (Value) -> Bool) {
        while let oldest, isOver(oldest.value) { remove(oldest.key) }
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
}
