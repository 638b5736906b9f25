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
        let scan = try ChainScan(log, authenticator: authenticator, client: "skipped events")
        defer { scan.close() }
        scan.follow(partition, from: position, upTo: try scan.end(of: partition))
        while !scan.isDone {
            for event in try scan.next(within: .seconds(1)).flatMap(\.events)
            where SkippedEvent(event.body)?.offset == offset { return true }
            guard scan.isAvailable else { throw LogError(.unavailable, "the log is away") }
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
