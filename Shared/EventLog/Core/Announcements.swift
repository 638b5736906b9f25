internal import EventSchema
internal import Synchronization

/// What the log tells everybody, as far as this process has read: which MAC keys were introduced, and which events are skipped.
/// One for everything in the process that reads or writes.
final class Announcements: Sendable {
    private let newestKey: Atomic<UInt32>
    /// When keys took the place of the ones before them, as the topic `keys` says.
    private let times = Mutex<[UInt32: Timestamp]>([:])
    /// There are hardly ever any, and every event is looked for here.
    private let hasSkips = Atomic(false)
    private let skips = Mutex<[EventPlace: String]>([:])

    /// How long what was written under the key before is still taken. Commands live an hour.
    static let grace = Interval.hours(1)

    init(first: UInt32) { newestKey = Atomic(first) }

    // MARK: MAC keys

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

    // MARK: Skipped events

    func skip(_ place: EventPlace, because reason: String) {
        skips.withLock { if $0[place] == nil { $0[place] = reason } }
        hasSkips.store(true, ordering: .releasing)
    }

    /// The operator's words; `nil`: it counts.
    func reason(toSkip place: @autoclosure () -> EventPlace) -> String? {
        guard hasSkips.load(ordering: .acquiring) else { return nil }
        let place = place()
        return skips.withLock { $0[place] }
    }

    var skipped: [EventPlace: String] { skips.withLock { $0 } }
}

/// Where an event stands.
struct EventPlace: Hashable, Comparable, Sendable {
    var partition: TopicPartition
    var offset: Int64

    init(_ partition: TopicPartition, _ offset: Int64) { (self.partition, self.offset) = (partition, offset) }

    static func < (left: EventPlace, right: EventPlace) -> Bool {
        (left.partition, left.offset) < (right.partition, right.offset)
    }
}
