public import EventLog
public import EventSchema

/// One process's fetching: delivers what it follows, in batches of any size, some time after it was appended.
public final class SimulatedReader {
    private struct Position {
        var next: Int64
        var epoch: Int
        /// Which call of `follow` this belongs to: what an earlier one fetched is not delivered any more.
        var generation: Int
        var isFetching = false
        var isAtEnd = false
        /// Whether the reader must say where to go on.
        var isLost = false
    }

    private let broker: SimulatedBroker
    private let deliver: (LogEvent) -> Void
    private var positions: [TopicPartition: Position] = [:]
    private var generations = 0

    /// `deliver` is called for records, ends, ranges and interruptions; groups are not a reader's business.
    public init(_ broker: SimulatedBroker, deliver: @escaping (LogEvent) -> Void) {
        self.broker = broker
        self.deliver = deliver
        broker.add(self)
    }

    public func follow(_ partition: TopicPartition, from offset: Int64) {
        generations += 1
        positions[partition] = Position(next: offset, epoch: broker.epoch(of: partition), generation: generations)
        fetch(partition)
    }

    /// Which call of `follow` a partition is delivered for; `nil` where it is not followed.
    public func generation(of partition: TopicPartition) -> Int? { positions[partition]?.generation }

    public func unfollow(_ partition: TopicPartition) { positions[partition] = nil }

    public func close() {
        positions.removeAll()
        broker.remove(self)
    }

    /// Something happened in the partition.
    func notice(_ partition: TopicPartition) { fetch(partition) }

    private func fetch(_ partition: TopicPartition) {
        guard let position = positions[partition], !position.isFetching, !position.isLost else { return }
        positions[partition]?.isFetching = true
        broker.scheduler.after(broker.transit()) { [weak self] in self?.arrive(partition, position.generation) }
    }

    private func arrive(_ partition: TopicPartition, _ generation: Int) {
        guard var position = positions[partition], position.generation == generation else { return }
        position.isFetching = false
        defer {
            if let position = positions[partition], position.next < broker.contents.bounds(of: partition).upperBound {
                fetch(partition)
            }
        }
        let bounds = broker.contents.bounds(of: partition)
        let epoch = broker.epoch(of: partition)
        if position.epoch != epoch || broker.chance(broker.faults.interrupt) {
            position.isLost = true
            positions[partition] = position
            return deliver(.interrupted(partition))
        }
        guard bounds.lowerBound <= position.next, position.next <= bounds.upperBound else {
            position.isLost = true
            positions[partition] = position
            return deliver(.outOfRange(partition, begin: bounds.lowerBound, end: bounds.upperBound))
        }
        let records = Array(broker.contents.records(of: partition, from: position.next, limit: broker.draw(1...40)))
        position.next += Int64(records.count)
        let reachesEnd = position.next == bounds.upperBound && !(records.isEmpty && position.isAtEnd)
        position.isAtEnd = position.next == bounds.upperBound
        positions[partition] = position
        if !records.isEmpty { deliver(.records(partition, records)) }
        // A record may have made its reader go elsewhere.
        if reachesEnd, positions[partition]?.generation == generation { deliver(.reachedEnd(partition, end: bounds.upperBound)) }
    }
}
