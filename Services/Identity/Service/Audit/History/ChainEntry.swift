internal import EventLog
internal import EventSchema

/// Where to begin with a chain in its middle, for readers that do not have to know it from the start: the records before are read
/// as far back as it takes to see which of them are the chain.
struct ChainEntry {
    /// Records that follow from each other.
    private struct Run {
        var first: ChainHead
        var tip: (sequence: Int64, hash: [UInt8])
        var count = 1
    }

    private static let shortest: Int64 = 256

    /// A position before the offset; `nil` for the beginning. A valid event that lies before it says nothing of those behind it
    /// that the MAC of these does not say.
    static func position(
        in place: TopicPartition, before offset: Int64, _ authenticator: RecordAuthenticator, over consumer: any LogConsumer
    ) throws(LogError) -> ChainPosition? {
        var distance = shortest
        while distance < offset {
            var runs: [Run] = []
            var reading = PartitionReading(place, from: offset - distance, over: consumer)
            while reading.next < offset {
                for item in try reading.items(before: offset) {
                    guard case .records(let records) = item else { continue }
                    for record in records { take(record, authenticator, &runs) }
                }
            }
            reading.end()
            if let run = runs.max(by: { ($0.count, $0.first.offset) < ($1.count, $1.first.offset) }) {
                return ChainPosition(offset: run.first.offset + 1, head: run.first)
            }
            distance *= 4
        }
        return nil
    }

    private static func take(_ record: Record, _ authenticator: RecordAuthenticator, _ runs: inout [Run]) {
        guard case .authentic(let key) = authenticator.verify(record), let sequence = record.claimedSequence,
            let previous = record.claimedPrevious, let owner = record.partition.topic.owner,
            record.header(HeaderName.source) == Array("/\(owner.rawValue)".utf8)
        else { return }
        let tip = (sequence: sequence, hash: record.hash)
        if let index = runs.firstIndex(where: { $0.tip.hash == previous && $0.tip.sequence == sequence - 1 }) {
            runs[index].tip = tip
            runs[index].count += 1
            return
        }
        let introduces = record.header(HeaderName.type) == Array(LogRecordType.macKeyIntroduced.utf8)
        runs.append(
            Run(
                first: ChainHead(
                    sequence: sequence, hash: tip.hash, offset: record.offset, key: introduces ? key + 1 : key), tip: tip))
    }
}
