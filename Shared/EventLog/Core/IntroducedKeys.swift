internal import EventSchema
internal import Synchronization

/// Which MAC keys of the log were introduced, as far as this process has read. One for everything in it that writes.
final class IntroducedKeys: Sendable {
    private let newestKey: Atomic<UInt32>
    /// When keys took the place of the ones before them, as the topic `keys` says.
    private let times = Mutex<[UInt32: Timestamp]>([:])

    /// How long what was written under the key before is still taken. Commands live an hour.
    static let grace = Interval.hours(1)

    init(first: UInt32) { newestKey = Atomic(first) }

    var newest: UInt32 { newestKey.load(ordering: .acquiring) }

    func introduce(_ key: UInt32, at time: Timestamp?) {
        if let time { times.withLock { if $0[key] == nil { $0[key] = time } } }
        newestKey.max(key, ordering: .acquiringAndReleasing)
    }

    /// Whether a later key has been in use for longer than the grace.
    func isRetired(_ key: UInt32, at time: Timestamp) -> Bool {
        guard key < newest else { return false }
        return times.withLock { $0[key + 1] }.map { time > $0 + Self.grace } ?? false
    }
}
