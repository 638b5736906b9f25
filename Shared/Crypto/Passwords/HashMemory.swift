internal import CLentMemory
internal import Synchronization

/// Memory that new password hashes are made in, kept from one to the next. libsodium maps it anew for each, and offers no other
/// way; that takes the system nearly as long as the hash takes the processor. The executable's own `mmap` gives it this memory
/// instead (`CLentMemory`).
///
/// There is as much of it as hashes were made at once. What a hash has left in it makes guesses cheap: what waited for the next one
/// for too long goes back to the system.
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
        /// Whether a task looks after what waits.
        var isAttended = false
    }

    private let patience: Duration
    private let kept = Mutex(Kept())

    /// - Parameter patience: how long memory waits for the next hash; at most twice as long.
    init(patience: Duration = .milliseconds(250)) { self.patience = patience }

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

    /// Gives back to the system what has waited for so long. Returns whether anything waits on.
    @discardableResult
    func release(unusedFor duration: Duration) -> Bool {
        let now = ContinuousClock.now
        let (released, isAttended) = kept.withLock { kept -> ([Region], Bool) in
            let count = kept.regions.prefix { now - $0.usedAt >= duration }.count
            let released = Array(kept.regions.prefix(count))
            kept.regions.removeFirst(count)
            kept.isAttended = !kept.regions.isEmpty
            return (released, kept.isAttended)
        }
        for region in released { region.delete() }
        return isAttended
    }

    private func attend() {
        Task { [weak self, patience] in
            repeat { try? await Task.sleep(for: patience) } while self?.release(unusedFor: patience) ?? false
        }
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
        let (isKept, wasAttended) = kept.withLock { kept -> (Bool, Bool) in
            kept.isTaken = isTaken
            guard kept.length == region.length else { return (false, true) }
            kept.regions.append(region)
            defer { kept.isAttended = true }
            return (true, kept.isAttended)
        }
        if !isKept { region.delete() }
        if !wasAttended { attend() }
    }

    deinit { release(unusedFor: .zero) }
}
