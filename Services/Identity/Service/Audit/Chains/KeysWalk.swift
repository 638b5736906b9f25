internal import EventLog
internal import EventSchema

/// Walks along the topic `keys`, which is no chain: every record stands for itself, under a MAC of its own.
struct KeysWalk: Sendable {
    private(set) var report: ChainReport
    private let authenticator: RecordAuthenticator?
    /// When Kafka's first record was appended, which gives the log its id.
    private var named: Timestamp?

    /// Several services may provision a log at the same time, so close to each other: then each names it, and the first one counts.
    private static let together = Interval.minutes(1)

    init(log: [UInt8], authenticator: RecordAuthenticator?) {
        let place = TopicPartition(.keys, 0)
        report = ChainReport(place, head: .genesis(of: place, in: log))
        self.authenticator = authenticator
    }

    mutating func read(_ record: Record, earlier: (end: Int64, contents: [UInt8], witness: String)?) {
        guard record.offset >= report.end else { return }
        skip(to: record.offset)
        meet(earlier)
        let hash = record.hash
        report.contents = ChainWalk.folded(report.contents, record, hash)
        report.end = record.offset + 1
        report.records += 1
        // Who provisions a log need not have keys.
        let isNaming = record.header(HeaderName.source) == Array("/provision".utf8)
        if isNaming, record.offset == 0 { named = record.time }
        if isNaming, record.offset > 0, let named, record.time <= named + Self.together {
            report.void += 1
            return
        }
        switch isNaming && record.offset == 0 ? nil : authenticator?.verify(record) {
        case nil, .authentic?:
            report.valid += 1
            report.head.sequence = Int64(report.valid)
            report.head.offset = record.offset
        case .forged?:
            let text = "its MAC does not verify: changed, or written by no service"
            report.findings.append(ChainFinding(.changed, report.place, at: record.offset, text))
        case .unknownKey(let key)?:
            report.findings.append(
                ChainFinding(.unreadable, report.place, at: record.offset, "it is under MAC key \(key), which is not held here"))
        }
    }

    mutating func skip(to offset: Int64) {
        guard offset > report.end else { return }
        report.findings.append(
            ChainFinding(.removed, report.place, at: report.end, "\(ChainWalk.offsets(report.end..<offset)) not there"))
        report.end = offset
    }

    private mutating func meet(_ earlier: (end: Int64, contents: [UInt8], witness: String)?) {
        guard let earlier, report.end == earlier.end, report.contents != earlier.contents else { return }
        report.findings.append(
            ChainFinding(.rewritten, report.place, at: earlier.end, "\(earlier.witness) saw other records before this offset"))
    }

    mutating func finish(at end: Int64, earlier: (end: Int64, contents: [UInt8], witness: String)?) -> ChainReport {
        skip(to: end)
        meet(earlier)
        if let earlier, earlier.end > report.end {
            report.findings.append(
                ChainFinding(
                    .cut, report.place, at: report.end,
                    "\(earlier.witness) saw it end at offset \(earlier.end): the tail was cut"))
        }
        report.head.hash = report.contents
        return report
    }
}
