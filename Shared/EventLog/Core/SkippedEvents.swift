public import EventSchema

/// Events that an operator has decided to skip, because nobody could read them: another event of the same chain, later, says so
/// and why. That holds for every reader and for ever: a version that could read such an event must not make anything else of the
/// log than those that could not.
///
/// A reader learns of it from the topic `keys`, before it begins (`readAnnouncements`); where it can go no further at an event
/// that it cannot read, from the chain itself; and at the latest where it comes to the event that says so.
public enum SkippedEvents {
    /// Whether an event behind `position` says that the one at `offset` is skipped. Reads to the partition's present end, and
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
            where SkippedEvent(event)?.offset == offset { return true }
            guard scan.isAvailable else { throw LogError(.unavailable, "the log is away") }
        }
        return false
    }
}

/// An event that cannot be read, and a position behind which it is said whether it is skipped.
struct PoisonedPlace: Hashable, Sendable {
    var event: EventPlace
    var behind: ChainPosition
}
