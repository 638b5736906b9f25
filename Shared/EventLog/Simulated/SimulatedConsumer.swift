import EventLog
import EventSchema
import Runtime
import Synchronization

/// Reads the log, and shares a topic with the members of its group.
final class SimulatedConsumer: LogConsumer {
    private struct Following: Sendable {
        var next: Int64
        var epoch: Int
        /// Whether the end was reported since the last records.
        var isAtEnd = false
    }

    private let log: SimulatedLog
    private let group: ConsumerGroup?
    private let woken = Mailbox<Void>(limit: 1)
    private let following = Mutex<[TopicPartition: Following]>([:])
    private let owned = Mutex<Set<Int>>([])
    private let isClosed = Atomic<Bool>(false)

    init(log: SimulatedLog, group: ConsumerGroup?) {
        self.log = log
        self.group = group
        log.change { [id = ObjectIdentifier(self), woken] state in
            state.wakers[id] = { woken.send(()) }
            if let group { state.groups[group, default: GroupState()].join(id, at: .now) }
        }
    }

    func poll(timeout: Duration) throws(LogError) -> [LogEvent] {
        guard !isClosed.load(ordering: .sequentiallyConsistent) else { throw SimulatedLog.closed }
        let events = look()
        if !events.isEmpty || timeout <= .zero { return events }
        _ = woken.receive(within: timeout)
        return look()
    }

    private func look() -> [LogEvent] {
        guard log.isAvailable else { return [] }
        var events = rebalance()
        following.withLock { following in
            for place in following.keys.sorted() {
                guard var position = following[place] else { continue }
                events += fetch(place, &position)
                following[place] = position
            }
        }
        return events
    }

    /// Fetches what is new of one partition.
    private func fetch(_ place: TopicPartition, _ position: inout Following) -> [LogEvent] {
        let next = position.next
        let (bounds, records, epoch) = log.state.withLock { state in
            let bounds = state.contents.bounds(of: place)
            let isInside = bounds.lowerBound <= next && next <= bounds.upperBound
            return (
                bounds, isInside ? Array(state.contents.records(of: place, from: next, limit: 500)) : [],
                state.epochs[place, default: 0]
            )
        }
        if epoch != position.epoch {
            position.epoch = epoch
            position.isAtEnd = false
            return [.interrupted(place)]
        }
        guard bounds.lowerBound <= next, next <= bounds.upperBound else {
            if position.isAtEnd { return [] }
            position.isAtEnd = true
            return [.outOfRange(place, begin: bounds.lowerBound, end: bounds.upperBound)]
        }
        var events: [LogEvent] = []
        if !records.isEmpty {
            position.next += Int64(records.count)
            position.isAtEnd = false
            events.append(.records(place, records))
        }
        if position.next == bounds.upperBound, !position.isAtEnd {
            position.isAtEnd = true
            events.append(.reachedEnd(place, end: bounds.upperBound))
        }
        return events
    }

    private func rebalance() -> [LogEvent] {
        guard let group else { return [] }
        let id = ObjectIdentifier(self)
        let timeout = log.sessionTimeout
        let (wasMember, (revoked, assigned)) = log.state.withLock { state in
            let partitions = group.topic.partitions(of: state.contents.description.partitions)
            return (
                state.groups[group]?.holds(id) ?? false,
                state.groups[group, default: GroupState()].poll(id, at: .now, partitions: partitions, timeout: timeout)
            )
        }
        let lost = owned.withLock { owned in
            let lost = wasMember ? revoked : owned
            owned.subtract(lost)
            owned.formUnion(assigned)
            return lost
        }
        following.withLock { following in
            for partition in lost { following[TopicPartition(group.topic, partition)] = nil }
        }
        // What was let go of may be somebody else's now.
        if !lost.isEmpty { log.change { _ in } }
        var events: [LogEvent] = []
        if !lost.isEmpty { events.append(.revoked(lost.sorted())) }
        if !assigned.isEmpty { events.append(.assigned(assigned.sorted())) }
        return events
    }

    var isAvailable: Bool { log.isAvailable && !isClosed.load(ordering: .sequentiallyConsistent) }

    func follow(_ partition: TopicPartition, from offset: Int64) {
        let epoch = log.state.withLock { $0.epochs[partition, default: 0] }
        following.withLock { $0[partition] = Following(next: offset, epoch: epoch) }
    }

    func unfollow(_ partition: TopicPartition) { following.withLock { $0[partition] = nil } }

    func bounds(of partition: TopicPartition) throws(LogError) -> Range<Int64> {
        try reach()
        return log.state.withLock { $0.contents.bounds(of: partition) }
    }

    func offset(of partition: TopicPartition, at time: Timestamp) throws(LogError) -> Int64 {
        try reach()
        return log.state.withLock { $0.contents.offset(of: partition, at: time) }
    }

    func committed(_ partitions: [TopicPartition]) throws(LogError) -> [TopicPartition: CommittedOffset] {
        try reach()
        guard let group else { return [:] }
        return log.state.withLock { $0.contents.committed(by: group.name, for: partitions) }
    }

    func commit(_ offsets: [TopicPartition: CommittedOffset]) {
        guard let group, isAvailable else { return }
        log.state.withLock { $0.contents.commit(offsets, by: group.name) }
    }

    private func reach() throws(LogError) {
        guard log.isAvailable else { throw SimulatedLog.unavailable }
    }

    func wake() { woken.send(()) }

    func close() {
        guard !isClosed.exchange(true, ordering: .sequentiallyConsistent) else { return }
        let id = ObjectIdentifier(self)
        log.change { [group] state in
            state.wakers[id] = nil
            if let group { state.groups[group]?.leave(id) }
        }
        woken.send(())
    }
}
