public import SeededRandom

/// Decides what happens next: the one thread of a simulation, with a clock that jumps from one happening to the next.
public final class Scheduler {
    private struct Item {
        var time: Int64
        var order: UInt64
        var work: () -> Void
    }

    /// Microseconds since the beginning.
    public private(set) var now: Int64 = 0
    public var random: SeededGenerator
    private var heap: [Item] = []
    private var scheduled: UInt64 = 0

    public init(random: SeededGenerator) { self.random = random }

    /// What is due at the same time happens in the order in which it was scheduled.
    public func after(_ delay: Int64, _ work: @escaping () -> Void) {
        scheduled += 1
        heap.append(Item(time: now + max(delay, 0), order: scheduled, work: work))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard precedes(child, parent) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Does everything that is due up to `end`, which then is the time.
    public func run(until end: Int64) {
        while let first = heap.first, first.time <= end {
            removeFirst()
            now = first.time
            first.work()
        }
        now = max(now, end)
    }

    private func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && precedes(child, least) { least = child }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (heap[left].time, heap[left].order) < (heap[right].time, heap[right].order)
    }
}
