public import EventLog
public import EventSchema

/// What a log holds: partitions of records, and the positions that groups committed. A plain value without time or faults.
public struct LogContents: Sendable {
    public let description: LogDescription
    private var partitions: [TopicPartition: PartitionContents] = [:]
    private var committed: [String: [TopicPartition: CommittedOffset]] = [:]

    public init(_ description: LogDescription) {
        self.description = description
        for topic in Topic.allCases {
            for partition in 0..<topic.partitions(of: description.partitions) {
                partitions[TopicPartition(topic, partition)] = PartitionContents()
            }
        }
    }

    /// Fails with `.rejected` where there is no such partition.
    public mutating func append(_ record: OutgoingRecord, at time: Timestamp) throws(LogError) -> Appended {
        let place = record.partition
        guard partitions[place] != nil else { throw LogError(.rejected, "there is no partition \(place)") }
        if let rejection = record.rejection { throw rejection }
        let offset = bounds(of: place).upperBound
        partitions[place]?.records.append(
            Record(partition: place, offset: offset, time: time, key: record.key, headers: record.headers, value: record.value))
        return Appended(offset: offset, time: time)
    }

    /// The offsets that exist; empty where there is no such partition.
    public func bounds(of partition: TopicPartition) -> Range<Int64> {
        guard let contents = partitions[partition] else { return 0..<0 }
        return contents.begin..<contents.begin + Int64(contents.records.count)
    }

    /// At most `limit` records from an offset on, which must be one that exists or the end.
    public func records(of partition: TopicPartition, from offset: Int64, limit: Int = .max) -> ArraySlice<Record> {
        guard let contents = partitions[partition] else { return [] }
        return contents.records[Int(offset - contents.begin)...].prefix(limit)
    }

    /// The first offset whose record was appended at or after `time`; the end if there is none.
    public func offset(of partition: TopicPartition, at time: Timestamp) -> Int64 {
        let index = partitions[partition]?.records.firstIndex { $0.time >= time }
        return index.map { bounds(of: partition).lowerBound + Int64($0) } ?? bounds(of: partition).upperBound
    }

    // MARK: Loss and retention

    /// Loses everything from an offset on, as a broker does that was elected without being in sync.
    public mutating func truncate(_ partition: TopicPartition, at offset: Int64) {
        guard let contents = partitions[partition], bounds(of: partition).contains(offset) else { return }
        partitions[partition]?.records.removeLast(contents.records.count - Int(offset - contents.begin))
    }

    /// Removes what lies before an offset, as retention does.
    public mutating func retain(_ partition: TopicPartition, from offset: Int64) {
        let bounds = bounds(of: partition)
        guard bounds.lowerBound < offset, offset <= bounds.upperBound else { return }
        partitions[partition]?.records.removeFirst(Int(offset - bounds.lowerBound))
        partitions[partition]?.begin = offset
    }

    // MARK: Groups

    public func committed(by group: String, for places: [TopicPartition]) -> [TopicPartition: CommittedOffset] {
        committed[group, default: [:]].filter { places.contains($0.key) }
    }

    public mutating func commit(_ offsets: [TopicPartition: CommittedOffset], by group: String) {
        committed[group, default: [:]].merge(offsets) { _, new in new }
    }

    /// Loses everything that the group committed.
    public mutating func forgetCommits(of group: String) { committed[group] = nil }
}

private struct PartitionContents: Sendable {
    var begin: Int64 = 0
    var records: [Record] = []
}
