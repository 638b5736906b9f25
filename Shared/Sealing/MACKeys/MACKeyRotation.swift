public import EventLog
public import EventSchema
internal import Glibc

/// What operators do with the log's MAC keys. Used from one thread; every call blocks.
///
/// A key is introduced in two steps. A record of the topic `keys`, under the key before it, tells everybody; from then on commands,
/// replies and published keys are written under it. Then whoever decides a partition writes an event into its chain, the last one
/// under the old key.
public final class MACKeyRotation {
    /// The key that a chain goes on under.
    public struct Chain: Hashable, Sendable {
        public var partition: TopicPartition
        /// `nil` where nobody has written yet.
        public var key: UInt32?
    }

    /// Whether the processes of a service hold a key.
    public struct Holding: Hashable, Sendable {
        public var service: ServiceName
        public var holding: Int
        public var lacking: Int
    }

    private let authenticator: RecordAuthenticator
    private let partitions: Int
    private let handles: OperatorHandles
    private let patience: Duration

    /// - Parameter patience: how long the log, answers and owners are waited for.
    public init(log: any EventLog, authenticator: RecordAuthenticator, patience: Duration) throws(LogError) {
        self.authenticator = authenticator
        self.patience = patience
        partitions = try log.describe().partitions
        handles = try OperatorHandles(log: log, authenticator: authenticator, patience: patience)
    }

    public func close() { handles.close() }

    /// The key that was introduced last.
    public var current: UInt32 { authenticator.current }

    /// The one after it, where it is held here.
    public var next: UInt32? { authenticator.holds(current + 1) ? current + 1 : nil }

    // MARK: Asking

    /// Asks every running process whether it holds the key, until all services have answered and no more answers come.
    public func ask(about key: UInt32) throws(LogError) -> [Holding] {
        let (consumer, replies) = (handles.consumer, handles.replies)
        consumer.follow(replies, from: try consumer.bounds(of: replies).upperBound)
        defer { consumer.unfollow(replies) }
        try handles.producer.append(
            MACKeyQuestion(key: key, replyTo: handles.address).record(by: authenticator), within: patience)
        var found: [ServiceName: Holding] = [:]
        let begin = ContinuousClock.now
        var last = begin
        /// Processes answer at once; the last one is not known.
        let quiet = min(.seconds(2), patience / 4)
        while ContinuousClock.now < begin + patience,
            found.count < ServiceName.allCases.count || ContinuousClock.now < last + quiet
        {
            for case .records(replies, let records) in try consumer.poll(timeout: .milliseconds(50)) {
                for record in records where record.key == handles.address.process && authenticator.accepts(record) {
                    guard let answer = MACKeyAnswer(record) else { continue }
                    last = ContinuousClock.now
                    var holding = found[answer.service] ?? Holding(service: answer.service, holding: 0, lacking: 0)
                    if answer.isHeld { holding.holding += 1 } else { holding.lacking += 1 }
                    found[answer.service] = holding
                }
            }
        }
        return ServiceName.allCases.map { found[$0] ?? Holding(service: $0, holding: 0, lacking: 0) }
    }

    // MARK: Introducing

    /// Tells everybody to go over to the next key, which must be held here.
    public func introduce(_ key: UInt32) throws(LogError) {
        let record = OutgoingRecord.ofLog(
            LogRecordType.macKeyIntroduced, source: "/operator", in: KeyRecord.partition, key: [],
            value: MACKeyIntroduced(key: key).data)
        try handles.producer.append(authenticator.sealed(record, under: key - 1), within: patience)
    }

    // MARK: Looking

    /// What the ends of all chains say. A record that counts for nothing may stand at an end, too, so the newest of several is
    /// taken.
    public func chains() throws(LogError) -> [Chain] {
        var chains: [Chain] = []
        for topic in Topic.allCases where topic.kind == .events {
            for partition in 0..<partitions { chains.append(try chain(TopicPartition(topic, partition))) }
        }
        return chains
    }

    /// So many records at the end of a partition are looked at.
    private static let glance: Int64 = 64

    private func chain(_ partition: TopicPartition) throws(LogError) -> Chain {
        let consumer = handles.consumer
        let bounds = try consumer.bounds(of: partition)
        guard !bounds.isEmpty else { return Chain(partition: partition, key: nil) }
        consumer.follow(partition, from: max(bounds.lowerBound, bounds.upperBound - Self.glance))
        defer { consumer.unfollow(partition) }
        var newest: UInt32?
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            for event in try consumer.poll(timeout: .milliseconds(50)) {
                switch event {
                case .records(partition, let records):
                    for record in records { newest = max(newest ?? 0, key(after: record) ?? 0) }
                case .reachedEnd(partition, _): return Chain(partition: partition, key: newest)
                default: break
                }
            }
        }
        throw LogError(.unavailable, "\(partition) was not read to its end in time")
    }

    private func key(after record: Record) -> UInt32? {
        guard case .authentic(let key) = authenticator.verify(record) else { return nil }
        let isIntroduction = record.header(HeaderName.type) == Array(LogRecordType.macKeyIntroduced.utf8)
        return isIntroduction ? key + 1 : key
    }

    /// Waits until every chain goes on under the key. Returns those that do not: nobody decides them, or not yet.
    public func waitForChains(
        under key: UInt32, progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(LogError) -> [Chain] {
        let deadline = ContinuousClock.now + patience
        while true {
            let chains = try chains()
            let behind = chains.filter { $0.key ?? 0 < key }
            progress(chains.count - behind.count, chains.count)
            if behind.isEmpty || ContinuousClock.now >= deadline { return behind }
            usleep(100_000)
        }
    }
}
