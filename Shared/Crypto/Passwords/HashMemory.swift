internal import CLentMemory
internal import Synchronization

/// Memory that new password hashes are made in, kept from one to the next. libsodium maps it anew for each, and offers no other
/// way; that takes the system nearly as long as the hash takes the processor. The executable's own `mmap` gives it this memory
/// instead (`CLentMemory`).
///
/// There is as much of it as hashes were made at once. What a hash has left in it makes guesses cheap: it must not be kept for long.
final class HashMemory: Sendable {
    static let shared = HashMemory()

    private struct Region {
        let address: UInt
        let length: Int
        var usedAt = ContinuousClock.now

        init?(_ length: Int) {
            guard let memory = latchkey_memory_new(length) else { return nil }
            address = UInt(bitPattern: memory)
            self.length = length
        }

        var memory: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: address) }

        func delete() { latchkey_memory_delete(memory, length) }
    }

    private struct Kept {
        var length = 0
        /// Those that were used last stand at the end.
        var regions: [Region] = []
        var isTaken = true
    }

    private let kept = Mutex(Kept())

    /// From now on memory of this length, in bytes, is kept, and no other.
    func keep(_ length: Int) {
        let outgrown = kept.withLock { kept -> [Region] in
            guard kept.length != length else { return [] }
            defer { (kept.length, kept.regions) = (length, []) }
            return kept.regions
        }
        for region in outgrown { region.delete() }
    }

    /// Lets the first mapping of so many bytes that `body` makes on this thread be memory that is kept, if that is the length that
    /// is. Otherwise, and where there is no memory, `body` maps its own. Not for a `body` that lends as well.
    ///
    /// - Parameter length: exactly what the library maps, in bytes.
    func lend<Result>(_ length: Int, to body: () -> Result) -> Result {
        guard let region = take(length) else { return body() }
        latchkey_memory_lend(region.memory, length)
        let result = body()
        give(region, isTaken: latchkey_memory_take_back())
        return result
    }

    /// Gives back to the system what no hash was made in for so long.
    func release(unusedFor duration: Duration) {
        let now = ContinuousClock.now
        let released = kept.withLock { kept -> [Region] in
            let count = kept.regions.prefix { now - $0.usedAt >= duration }.count
            defer { kept.regions.removeFirst(count) }
            return Array(kept.regions.prefix(count))
        }
        for region in released { region.delete() }
    }

    /// Bytes that wait for the next hash.
    var waiting: Int { kept.withLock { $0.regions.reduce(0) { $0 + $1.length } } }

    /// Whether what was lent last was taken.
    var isTaken: Bool { kept.withLock { $0.isTaken } }

    private func take(_ length: Int) -> Region? {
        let (isKept, region) = kept.withLock { kept -> (Bool, Region?) in
            guard kept.length == length else { return (false, nil) }
            return (true, kept.regions.popLast())
        }
        return isKept ? region ?? Region(length) : nil
    }

    private func give(_ region: Region, isTaken: Bool) {
        var region = region
        region.usedAt = .now
        let isKept = kept.withLock { kept in
            kept.isTaken = isTaken
            guard kept.length == region.length else { return false }
            kept.regions.append(region)
            return true
        }
        if !isKept { region.delete() }
    }

    deinit { release(unusedFor: .zero) }
}
