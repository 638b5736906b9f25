public import EventLog
public import EventSchema

/// What an audit of one partition came to.
public struct ChainReport: Equatable, Sendable {
    public var place: TopicPartition
    /// The last event of the chain; of `keys`, which is no chain, the number and the digest of all records.
    public var head: ChainHead
    /// The offset behind the last record that was read.
    public var end: Int64 = 0
    public var records = 0
    public var valid = 0
    /// Records that services wrote and that came to nothing, as the rules have it.
    public var void = 0
    /// SHA-256 over everything that stands there, void records and append times included: of nothing 32 zeros, of one record
    /// more that of what was before it, offset and append time (8 bytes each, the highest first) and the record's hash.
    public var contents = [UInt8](repeating: 0, count: 32)
    /// The first thing that breaks it, then what was found besides, in the order of the log.
    public var findings: [ChainFinding] = []
    /// Findings that were too many to be listed.
    public var unlisted = 0

    public var isIntact: Bool { !findings.contains { $0.kind.isBreak } }

    init(_ place: TopicPartition, head: ChainHead) {
        self.place = place
        self.head = head
    }
}
