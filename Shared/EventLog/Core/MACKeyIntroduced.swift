public import EventSchema
internal import JSON

/// The content of `latchkey.log.mac-key-introduced.v1`. In a chain: from the next event on, it is written under this key. In the
/// topic `keys`: every chain shall go over to it, and everything outside of chains is written under it from now on.
public struct MACKeyIntroduced: Hashable, Sendable {
    public var key: UInt32

    public init(key: UInt32) { self.key = key }

    init?(_ data: [UInt8]) {
        guard let json = try? JSON.parse(data), let key = json["key"]?.int64.flatMap({ UInt32(exactly: $0) }) else { return nil }
        self.key = key
    }

    public var data: [UInt8] { Array(#"{"key":\#(key)}"#.utf8) }
}

/// The MAC keys that the topic `keys` introduces, each under the key before it. Whoever writes anything reads them first.
public struct MACKeyHistory: Sendable {
    public enum Outcome: Hashable, Sendable {
        case introduced(UInt32)
        case known
        /// Not under the key before it, or not the next one.
        case contradictory
    }

    /// Where they stand.
    public static let partition = TopicPartition(.keys, 0)

    /// The newest one.
    public private(set) var newest: UInt32 = 1

    public init() {}

    /// Takes an introduction whose MAC was verified, and has the process write under the new key.
    ///
    /// - Parameter key: the key that it was written under.
    /// - Throws: `.unreadable` where the new key is not held here.
    public mutating func read(
        _ record: Record, under key: UInt32, by authenticator: RecordAuthenticator
    ) throws(LogError) -> Outcome {
        guard let introduced = MACKeyIntroduced(record.value) else { return .contradictory }
        if introduced.key <= newest { return .known }
        guard key == newest, introduced.key == newest + 1 else { return .contradictory }
        guard authenticator.holds(introduced.key) else {
            throw LogError(
                .unreadable, "MAC key \(introduced.key) of the log was introduced, and this service does not hold it")
        }
        newest = introduced.key
        authenticator.introduce(newest, at: record.time)
        return .introduced(newest)
    }
}

extension RecordAuthenticator {
    /// Reads in the topic `keys` which keys were introduced, and which events are skipped. Whoever begins to read a chain, or to
    /// write, must know. Blocks.
    ///
    /// - Parameter isStopping: is asked again and again whether to end early.
    /// - Throws: `.unreadable` where the newest key is not held here, `.unavailable` where the topic is not read to its end in half
    ///   a minute, `.closed` where that is not wanted any more.
    public func readAnnouncements(of log: any EventLog, isStopping: () -> Bool = { false }) throws(LogError) {
        let consumer = try log.makeConsumer(client: "announcements", group: nil)
        defer { consumer.close() }
        try readAnnouncements(with: consumer, within: .seconds(30), isStopping: isStopping)
    }

    func readAnnouncements(
        with consumer: any LogConsumer, within patience: Duration, isStopping: () -> Bool = { false }
    ) throws(LogError) {
        var history = MACKeyHistory()
        consumer.follow(MACKeyHistory.partition, from: 0)
        defer { consumer.unfollow(MACKeyHistory.partition) }
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            if isStopping() { throw LogError(.closed, "the topic keys is not read any more") }
            for event in try consumer.poll(timeout: .milliseconds(50)) {
                switch event {
                case .records(MACKeyHistory.partition, let records):
                    for record in records { try read(record, into: &history) }
                case .reachedEnd(MACKeyHistory.partition, _): return
                case .interrupted(MACKeyHistory.partition):
                    consumer.follow(MACKeyHistory.partition, from: 0)
                default: break
                }
            }
        }
        throw LogError(.unavailable, "the topic keys was not read to its end in time")
    }

    private func read(_ record: Record, into history: inout MACKeyHistory) throws(LogError) {
        let type = record.text(HeaderName.type)
        guard type == LogRecordType.macKeyIntroduced || type == LogRecordType.skipped,
            case .authentic(let key) = verify(record)
        else { return }
        if type == LogRecordType.macKeyIntroduced {
            _ = try history.read(record, under: key, by: self)
        } else if accepts(record), let skipped = SkippedEvent(announcedIn: record) {
            skip(skipped)
        }
    }
}
