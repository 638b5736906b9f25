import EventLog

/// That a partition has grown, and by what, where that is known: what this process has appended itself its consumers need not
/// fetch.
struct Growth: Sendable {
    var key: ConsumerInbox.Key
    /// The offset that the next record will get.
    var end: Int64
    /// The last records before the end, without a gap; empty where others appended them.
    var records: [Record] = []

    /// So much is handed on; what is more is fetched. In bytes of values, and in records.
    private static let most = (bytes: 2 << 20, records: 1_000)

    init(_ key: ConsumerInbox.Key, to end: Int64, by records: [Record] = []) {
        self.key = key
        self.end = end
        if records.count <= Self.most.records, records.reduce(0, { $0 + $1.value.count }) <= Self.most.bytes {
            self.records = records
        }
    }

    /// Both together. Records are handed on only as long as they follow upon each other.
    func followed(by other: Growth) -> Growth {
        guard other.end > end else { return self }
        let isGapless = !records.isEmpty && other.records.first?.offset == end
        return Growth(key, to: other.end, by: isGapless ? records + other.records : [])
    }
}
