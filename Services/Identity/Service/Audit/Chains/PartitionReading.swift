internal import EventLog
internal import EventSchema
internal import Runtime

/// Reads one partition from one offset to another, in order, whatever happens to the connection meanwhile.
struct PartitionReading {
    /// What a reading came upon.
    enum Item {
        case records(ArraySlice<Record>)
        /// The log does not have what lies before this offset, though it has given the offsets.
        case missing(before: Int64)
    }

    /// For how long the log may be away.
    private static let patience = Duration.seconds(30)

    let place: TopicPartition
    private(set) var next: Int64
    private let consumer: any LogConsumer
    private var quietSince = ContinuousClock.now

    init(_ place: TopicPartition, from offset: Int64, over consumer: any LogConsumer) {
        self.place = place
        next = offset
        self.consumer = consumer
        consumer.follow(place, from: offset)
    }

    /// Waits for what comes next, at most `timeout`; what lies at or behind `end` is left out.
    mutating func items(before end: Int64, within timeout: Duration = .milliseconds(500)) throws(LogError) -> [Item] {
        var items: [Item] = []
        for event in try consumer.poll(timeout: timeout) {
            switch event {
            case .records(place, let records):
                let new = records[(records.firstIndex { $0.offset >= next } ?? records.endIndex)...]
                let wanted = new.prefix { $0.offset < end }
                guard let last = wanted.last else { continue }
                next = last.offset + 1
                items.append(.records(wanted))
            case .interrupted(place): consumer.follow(place, from: next)
            case .reachedEnd(place, let bound) where bound <= next && next < end && end < .max:
                // It ended at `end` once, or behind it.
                guard try consumer.bounds(of: place).upperBound < end else { continue }
                next = end
                items.append(.missing(before: end))
            case .outOfRange(place, let begin, let bound):
                let known = next < begin ? begin : max(next, bound)
                if known > next {
                    next = known
                    items.append(.missing(before: known))
                }
                consumer.follow(place, from: next)
            default: break
            }
        }
        if !items.isEmpty || consumer.isAvailable { quietSince = .now }
        guard ContinuousClock.now - quietSince < Self.patience else {
            throw LogError(.unavailable, "\(place) could not be read for \(Self.patience.components.seconds) seconds")
        }
        return items
    }

    func end() { consumer.unfollow(place) }
}
