/// What was taken from one partition and is not done, in the order of offsets: tells from where another instance would have to
/// go on.
struct OpenWork<Position: Sendable & Equatable>: Sendable {
    private struct Item {
        var offset: Int64
        /// Before the record was read.
        var before: Position
        var isDone = false
    }

    private var items: ArraySlice<Item> = []
    /// After the last record that was read, whether or not there was work in it.
    private(set) var read: Position

    init(at position: Position) { read = position }

    /// A record was read.
    ///
    /// - Parameter isWork: whether it leads to work that `finish` will be called for.
    mutating func take(_ offset: Int64, next: Position, isWork: Bool) {
        if isWork { items.append(Item(offset: offset, before: read)) }
        read = next
    }

    /// The work of this record is done. Says nothing of a record that is not open.
    mutating func finish(_ offset: Int64) {
        // Sorted by offset, so halving finds it.
        var (low, high) = (items.startIndex, items.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if items[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        guard low < items.endIndex, items[low].offset == offset else { return }
        items[low].isDone = true
        items = items.drop { $0.isDone }
    }

    /// Where to go on so that nothing is missed that is not done.
    var committable: Position { items.first?.before ?? read }

    var count: Int { items.count }
}
