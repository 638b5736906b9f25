internal import CLentMemory
internal import Synchronization

/// Memory that password hashes are made in, kept from one to the next. libsodium maps it anew for each, and that takes the system
/// nearly as long as the hash takes the processor.
///
/// There is as much of it as hashes were made at once, all of the size that was asked for last. What a hash has left in it is of no
/// use without half of the work of a guess, and does not get into core dumps.
final class HashMemory: Sendable {
    static let shared = HashMemory()

    private struct Region {
        let address: UInt
        let length: Int

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
        var regions: [Region] = []
        var isUsedAt = ContinuousClock.now
    }

    private let kept = Mutex(Kept())

    /// Lets the first mapping of so many bytes that `body` makes on this thread be memory that is kept. Where there is no memory to
    /// keep, `body` maps its own.
    ///
    /// - Parameter length: exactly what the library maps.
    func lend<Result>(_ length: Int, to body: () -> Result) -> Result {
        guard let region = take(length) else { return body() }
        latchkey_memory_lend(region.memory, length)
        let result = body()
        _ = latchkey_memory_take_back()
        give(region)
        return result
    }

    /// Gives it back to the system where no hash was made for so long.
    func release(unusedFor duration: Duration) {
        let released = kept.withLock { kept -> [Region] in
            guard !kept.regions.isEmpty, ContinuousClock.now - kept.isUsedAt >= duration else { return [] }
            defer { kept.regions = [] }
            return kept.regions
        }
        for region in released { region.delete() }
    }

    /// Bytes that wait for the next hash.
    var waiting: Int { kept.withLock { $0.regions.reduce(0) { $0 + $1.length } } }

    private func take(_ length: Int) -> Region? {
        let (region, outgrown) = kept.withLock { kept -> (Region?, [Region]) in
            if kept.length == length { return (kept.regions.popLast(), []) }
            defer { (kept.length, kept.regions) = (length, []) }
            return (nil, kept.regions)
        }
        for region in outgrown { region.delete() }
        return region ?? Region(length)
    }

    private func give(_ region: Region) {
        let isKept = kept.withLock { kept in
            kept.isUsedAt = .now
            guard kept.length == region.length else { return false }
            kept.regions.append(region)
            return true
        }
        if !isKept { region.delete() }
    }

    deinit { release(unusedFor: .zero) }
}

extension PasswordHash {
    /// Gives the memory that hashes were made in back to the system, where none was made for so long.
    public static func releaseMemory(unusedFor duration: Duration) { HashMemory.shared.release(unusedFor: duration) }
}
