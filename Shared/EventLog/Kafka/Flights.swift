internal import EventSchema

/// Holds back what a busy producer could not send anyway, so that it goes out together: at most one group of records of a
/// partition is under way at a time, and groups of a few partitions together.
///
/// An idempotent producer has five requests under way at most, each with records of one partition, and a broker works on one
/// request of a connection after the other. librdkafka would turn what comes meanwhile into small requests, and poll without
/// a pause until it may send them (measured: a third of all CPU).
///
/// The first record of a partition leaves alone. A broker that knows nothing of a producer yet takes whatever number it begins
/// with (Kafka's `ProducerAppendInfo.checkSequence`): of two requests on their way, it may refuse the first, as one who leads
/// that partition only from now on does, and take the second. librdkafka then says of the first that it stands, too.
struct Flights<Element> {
    private struct Lane {
        var held: [Element] = []
        var underway = 0
        var since = ContinuousClock.now
    }

    /// How many partitions may have a group under way.
    private let limit: Int
    /// What is under way for longer counts no more: its broker may be away, and the others' partitions must not wait for it.
    private let patience: Duration
    /// When a record of a partition last stood, where no failure came after it.
    private var stood: [TopicPartition: ContinuousClock.Instant] = [:]
    private var lanes: [TopicPartition: Lane] = [:]
    /// Partitions that may send as soon as there is room, in their order.
    private var queue: [TopicPartition] = []

    /// For how long a broker is taken to remember a producer. It does for a day, by `producer.id.expiration.ms`.
    static var memory: Duration { .seconds(600) }

    init(limit: Int, patience: Duration) {
        self.limit = limit
        self.patience = patience
    }

    /// Takes an element in. Whatever may leave is told by `next`.
    mutating func add(_ element: Element, to partition: TopicPartition) {
        lanes[partition, default: Lane()].held.append(element)
        if let lane = lanes[partition], lane.underway == 0, lane.held.count == 1 { queue.append(partition) }
    }

    /// The next group that may leave. It is under way from now on, until so many as there are in it have ended.
    mutating func next(at now: ContinuousClock.Instant) -> [Element]? {
        guard let partition = queue.first, lanes.values.count(where: { $0.underway > 0 && now - $0.since < patience }) < limit
        else { return nil }
        queue.removeFirst()
        guard let held = lanes[partition]?.held, !held.isEmpty else { return nil }
        let isKnown = stood[partition].map { now - $0 < Self.memory } ?? false
        let group = isKnown ? held : [held[0]]
        lanes[partition] = Lane(held: Array(held.dropFirst(group.count)), underway: group.count, since: now)
        return group
    }

    /// One element of a group has arrived or failed.
    ///
    /// - Parameter time: when it stood; `nil` for one that failed, or was sent by somebody else.
    mutating func ended(_ partition: TopicPartition, stoodAt time: ContinuousClock.Instant?) {
        stood[partition] = time
        guard var lane = lanes.removeValue(forKey: partition) else { return }
        lane.underway -= 1
        if lane.underway == 0, !lane.held.isEmpty { queue.append(partition) }
        if lane.underway > 0 || !lane.held.isEmpty { lanes[partition] = lane }
    }

    /// Whoever sends from now on is unknown to all brokers.
    mutating func beginAnew() { stood = [:] }

    /// Gives up what is held for a partition, or for all.
    mutating func abandonHeld(of partition: TopicPartition? = nil) -> [Element] {
        var abandoned: [Element] = []
        for partition in partition.map({ [$0] }) ?? lanes.keys.sorted() {
            guard var lane = lanes.removeValue(forKey: partition) else { continue }
            abandoned += lane.held
            lane.held = []
            if lane.underway > 0 { lanes[partition] = lane }
            queue.removeAll { $0 == partition }
        }
        return abandoned
    }
}
