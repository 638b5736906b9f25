public import EventSchema

/// Makes the records that follow the head of a chain, outside the loop: for what operators append, and for logs that are made
/// as a whole. Whether such an event is valid is seen, as always, where it is read back.
public struct ChainWriter: Sendable {
    public let partition: TopicPartition
    /// The newest event that was made, or the one that everything began at.
    public private(set) var head: ChainHead
    private let authenticator: RecordAuthenticator
    private let service: ServiceName
    private let writer: String

    /// - Parameter head: must be under a key that the authenticator holds.
    /// - Throws: `.rejected` for a topic that has no chain.
    public init(
        _ partition: TopicPartition, after head: ChainHead, authenticator: RecordAuthenticator, writer: String
    ) throws(LogError) {
        guard let owner = partition.topic.owner else { throw LogError(.rejected, "\(partition) has no chain") }
        self.partition = partition
        self.head = head
        self.authenticator = authenticator
        service = owner
        self.writer = writer
    }

    /// The next record. Its inbox positions must be those of the event before it, unless it was decided on more.
    public mutating func append(
        _ body: EventBody, id: MessageID, key: [UInt8], at time: Timestamp, inboxes: InboxPositions,
        causation: MessageID? = nil, remember: Interval = .zero
    ) -> OutgoingRecord {
        let draft = EventDraft(
            id: id, body: body, key: key, time: time, inboxes: inboxes, writer: writer, service: service, speculation: 0,
            causation: causation, traceParent: nil, replyTo: nil, deadline: nil, remember: remember, refused: [])
        let record = draft.record(after: head, in: partition, by: authenticator)
        // Where it will stand is not known yet, and no record says it.
        head = ChainHead(sequence: head.sequence + 1, hash: record.hash, offset: head.offset, key: head.key)
        return record
    }
}
