internal import EventLog
internal import EventSchema

/// Where to begin with a chain in its middle, for readers that do not have to know it from the start: the records before are read
/// as far back as it takes to find one that is certainly an event of the chain. What a service left behind that is void, however
/// long it is, is never taken for one:
/// - Whoever begins a speculation begins it at the head that it has read. So what is followed by a record of another writer, or of
///   another speculation, is an event.
/// - Nobody has more than `LoopSettings.mostPending` records on their way. So what as many of the same speculation follow is one.
struct ChainEntry {
    private struct Step {
        var head: ChainHead
        /// An earlier record of the same speculation, and how many follow from it up to here.
        var first: ChainHead
        var followers = 0
        var speculation: [[UInt8]]
    }

    /// So far back it is looked at first.
    private static let shortest: Int64 = 256
    /// So many records are held, and twice as many at most.
    private static let most = 4_096

    private var steps: [[UInt8]: Step] = [:]
    private var older: [[UInt8]: Step] = [:]
    /// The newest event that is certain.
    private(set) var event: ChainHead?

    /// A position before the offset; `nil` for the beginning. A valid event that lies before it says nothing of those behind it
    /// that the MAC of these does not say.
    static func position(
        in place: TopicPartition, before offset: Int64, _ authenticator: RecordAuthenticator, over consumer: any LogConsumer
    ) throws(LogError) -> ChainPosition? {
        var distance = shortest
        while distance < offset {
            var entry = ChainEntry()
            var reading = PartitionReading(place, from: offset - distance, over: consumer)
            while reading.next < offset {
                for item in try reading.items(before: offset) {
                    guard case .records(let records) = item else { continue }
                    for record in records { entry.take(record, authenticator) }
                }
            }
            reading.end()
            if let event = entry.event { return ChainPosition(offset: event.offset + 1, head: event) }
            distance *= 4
        }
        return nil
    }

    /// Takes the next record.
    mutating func take(_ record: Record, _ authenticator: RecordAuthenticator) {
        guard case .authentic(let key) = authenticator.verify(record), let sequence = record.claimedSequence,
            let previous = record.claimedPrevious, let owner = record.partition.topic.owner,
            record.header(HeaderName.source) == Array("/\(owner.rawValue)".utf8),
            let writer = record.header(HeaderName.writer), let speculation = record.header(HeaderName.speculation)
        else { return }
        let introduces = record.header(HeaderName.type) == Array(LogRecordType.macKeyIntroduced.utf8)
        let head = ChainHead(
            sequence: sequence, hash: record.hash, offset: record.offset, key: introduces ? key + 1 : key)
        var step = Step(head: head, first: head, speculation: [writer, speculation])
        if let before = steps[previous] ?? older[previous], before.head.sequence == sequence - 1 {
            if before.speculation != step.speculation {
                note(before.head)
            } else if before.followers + 1 < LoopSettings.mostPending {
                (step.first, step.followers) = (before.first, before.followers + 1)
            } else {
                note(before.first)
            }
        }
        steps[head.hash] = step
        if steps.count > Self.most { (older, steps) = (steps, [:]) }
    }

    private mutating func note(_ head: ChainHead) {
        if head.offset > event?.offset ?? -1 { event = head }
    }
}
