internal import EventLog
internal import EventSchema
internal import Runtime

/// Reads events of several partitions in the order in which the log took them, as a stream: little of it is in memory at once.
final class HistoryReading {
    private struct Lane {
        var waiting: [EventEnvelope] = []
        var position: ChainPosition?
        var end: Int64?
        /// Nothing that was appended before this can come any more.
        var readUntil = Timestamp(milliseconds: .min)
        /// Nothing is left now, or for ever where there is an end.
        var isAtEnd = false
        var isHeld = false
        /// Records behind the last event that count for nothing.
        var void = 0
    }

    /// Partitions are left alone while so many events of theirs wait for those of others.
    private static let mostWaiting = 400
    private static let patience = Duration.seconds(30)

    private let scan: ChainScan
    private let takes: (EventEnvelope) -> Bool
    private let since: Timestamp?
    private var lanes: [TopicPartition: Lane] = [:]
    private var quietSince = ContinuousClock.now

    /// - Parameters:
    ///   - since, until: by the log's append time.
    ///   - follow: whether to go on with what comes.
    ///   - takes: which events are wanted.
    init(
        _ places: [TopicPartition], of log: any EventLog, _ authenticator: RecordAuthenticator, since: Timestamp?,
        until: Timestamp?, follow: Bool, takes: @escaping (EventEnvelope) -> Bool
    ) throws(LogError) {
        self.takes = takes
        self.since = since
        scan = try ChainScan(log, authenticator: authenticator, client: "audit")
        let consumer = try log.makeConsumer(client: "audit", group: nil)
        defer { consumer.close() }
        for place in places {
            var lane = Lane()
            let bounds = try consumer.bounds(of: place)
            if !follow { lane.end = bounds.upperBound }
            if let until { lane.end = min(bounds.upperBound, try consumer.offset(of: place, at: until)) }
            if let since {
                let start = try consumer.offset(of: place, at: since)
                lane.position = try ChainEntry.position(in: place, before: start, authenticator, over: consumer)
            }
            lane.isAtEnd = lane.end.map { $0 <= max(bounds.lowerBound, lane.position?.offset ?? 0) } ?? false
            lanes[place] = lane
        }
        for (place, lane) in lanes where !lane.isAtEnd {
            scan.follow(place, from: lane.position, since: since, upTo: lane.end)
        }
    }

    deinit { scan.close() }

    /// Whether everything was given.
    var isDone: Bool { lanes.values.allSatisfy { $0.end != nil && $0.isAtEnd && $0.waiting.isEmpty } }

    /// Partitions that end with records that count for nothing.
    var doubtful: [TopicPartition] { lanes.filter { $0.value.void > 0 }.keys.sorted() }

    /// What comes next, oldest first; waits for it at most `timeout`.
    func next(within timeout: Duration) throws(LogError) -> [EventEnvelope] {
        let batches = try scan.next(within: lanes.values.allSatisfy(\.isHeld) ? .zero : timeout)
        for batch in batches { take(batch) }
        if !batches.isEmpty || scan.isAvailable { quietSince = .now }
        guard ContinuousClock.now - quietSince < Self.patience else {
            throw LogError(.unavailable, "the log could not be read for \(Self.patience.components.seconds) seconds")
        }
        return ripe()
    }

    private func take(_ batch: ChainScan.Batch) {
        guard var lane = lanes[batch.partition] else { return }
        lane.position = batch.position
        if let last = batch.events.last {
            lane.readUntil = max(lane.readUntil, last.appended)
            lane.void = 0
        }
        lane.void += batch.void.values.reduce(0, +)
        lane.waiting += batch.events.filter(takes)
        lane.isAtEnd = batch.isLast
        if lane.waiting.count > Self.mostWaiting, !lane.isAtEnd {
            scan.unfollow(batch.partition)
            lane.isHeld = true
        }
        lanes[batch.partition] = lane
    }

    /// What nothing older can come before.
    private func ripe() -> [EventEnvelope] {
        let horizon = lanes.values.filter { !$0.isAtEnd }.map(\.readUntil).min()
        var ripe: [EventEnvelope] = []
        for place in lanes.keys {
            guard var lane = lanes[place], !lane.waiting.isEmpty else { continue }
            let count = horizon.map { horizon in lane.waiting.prefix { $0.appended <= horizon }.count } ?? lane.waiting.count
            ripe += lane.waiting.prefix(count)
            lane.waiting.removeFirst(count)
            if lane.isHeld, lane.waiting.count < Self.mostWaiting / 2 {
                scan.follow(place, from: lane.position, since: since, upTo: lane.end)
                lane.isHeld = false
            }
            lanes[place] = lane
        }
        return ripe.sorted {
            ($0.appended, $0.partition, $0.offset) < ($1.appended, $1.partition, $1.offset)
        }
    }
}
