internal import EventSchema

/// Refusals that no confirmed event names yet, in the order in which they were decided.
struct PendingRefusals: Sendable {
    private struct Entry: Sendable {
        var refused: RefusedCommand
        /// The pending event that names it.
        var namedBy: Int64?
        /// The outcome can no longer change; it may have been told.
        var isCertain = false
    }

    private var entries: [Entry] = []
    /// How many entries were removed before the first: entries keep their numbers.
    private var removed = 0
    /// How many of them pending events name: the first ones.
    private var named = 0
    /// The newest entry of each command, by its number.
    private var numbers: [MessageID: Int] = [:]

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var unnamed: Int { entries.count - named }

    subscript(id: MessageID) -> RefusedCommand? { numbers[id].map { entries[$0 - removed].refused } }

    /// Returns the number of the entry.
    mutating func append(_ refused: RefusedCommand) -> Int {
        let number = removed + entries.count
        entries.append(Entry(refused: refused))
        numbers[refused.id] = number
        return number
    }

    mutating func becomeCertain(_ number: Int) {
        if number >= removed { entries[number - removed].isCertain = true }
    }

    /// Those that no event names, which this one does.
    mutating func name(in sequence: Int64) -> [RefusedCommand] {
        defer { named = entries.count }
        return (named..<entries.count).map { index in
            entries[index].namedBy = sequence
            return entries[index].refused
        }
    }

    /// Forgets what an event names that is confirmed by now.
    mutating func confirm(through sequence: Int64) {
        var count = 0
        while count < named, let namedBy = entries[count].namedBy, namedBy <= sequence { count += 1 }
        for index in 0..<count {
            let id = entries[index].refused.id
            if numbers[id] == removed + index { numbers[id] = nil }
        }
        entries.removeFirst(count)
        removed += count
        named -= count
    }

    /// The events that were to name them are none, and neither is what was not certain.
    mutating func startOver() {
        let certain = entries.filter(\.isCertain)
        removeAll()
        for entry in certain {
            let number = append(entry.refused)
            becomeCertain(number)
        }
    }

    mutating func removeAll() { self = PendingRefusals() }
}
