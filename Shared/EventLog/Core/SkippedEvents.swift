public import EventSchema

/// Events that no reader can read, and that an operator has decided to skip: another event of the same chain, later, says so
/// and why. It is looked for only where an event cannot be read, so nothing that can be read is ever skipped.
public enum SkippedEvents {
    /// Whether an event behind `position` says that the one at `offset` is skipped. Reads to the partition's present end;
    /// blocks.
    ///
    /// - Parameter position: anywhere before that event says so; `nil`: the beginning.
    public static func contains(
        _ offset: Int64, of partition: TopicPartition, behind position: ChainPosition?, in log: any EventLog,
        authenticator: RecordAuthenticator
    ) throws(LogError) -> Bool {
        var reader = ChainReader(partition, at: position, log: try log.describe().id, authenticator: authenticator)
        let consumer = try log.makeConsumer(client: "skipped events", group: nil)
        defer { consumer.close() }
        let end = try consumer.bounds(of: partition).upperBound
        consumer.follow(partition, from: reader.position.start)
        while reader.position.offset < end || reader.isRecognising {
            for event in try consumer.poll(timeout: .seconds(1)) {
                switch event {
                case .records(partition, let records):
                    for record in records {
                        guard case .valid(let envelope) = try reader.read(record) else { continue }
                        if SkippedEvent(envelope.body)?.offset == offset { return true }
                    }
                case .outOfRange(partition, _, _):
                    throw LogError(.truncated, "\(partition) ends before offset \(reader.position.offset): the log has lost data")
                case .interrupted(partition): throw LogError(.unavailable, "\(partition) was interrupted")
                default: break
                }
            }
            guard consumer.isAvailable else { throw LogError(.unavailable, "the log is away") }
        }
        return false
    }
}

/// Where an event stands.
struct EventPlace: Hashable, Sendable {
    var partition: TopicPartition
    var offset: Int64

    init(_ partition: TopicPartition, _ offset: Int64) { (self.partition, self.offset) = (partition, offset) }
}

/// An event that cannot be read, and a position behind which it is said whether it is skipped.
struct PoisonedPlace: Hashable, Sendable {
    var event: EventPlace
    var behind: ChainPosition
}
