public import EventLog
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
            for batch in try scan.next(within: .seconds(1)) {
                for event in batch.events where SkippedEvent(event.body)?.offset == offset { return true }
            }
        }
        return false
    }
}
