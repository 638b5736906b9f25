internal import Crypto
internal import EventLog
internal import EventSchema

/// Walks along one chain from its first record to its end, and says what was done to it.
///
/// Void records are nothing bad: owners that decide at the same time, and speculations that were given up, leave some behind. They
/// differ from traces of a change in that the chain goes on without them. Where an event was changed or taken away, nothing can go
/// on: all that follows names a head that nobody has.
///
/// Without MAC keys every record counts that fits, and the longest branch is taken for the chain.
struct ChainWalk: Sendable {
    /// How many loose records are looked at together, and how far back branches may begin.
    static let window = 4_096
    /// How many findings of one chain are listed.
    private static let mostFindings = 100

    let place: TopicPartition
    private(set) var report: ChainReport
    private let authenticator: RecordAuthenticator?
    var isWithoutKeys: Bool { authenticator == nil }
    /// The rule, where the keys are there to apply it.
    private var reader: ChainReader?
    /// Records since the head that do not go on from it, or before it if they claim a place behind it.
    private(set) var loose: [LooseRecord] = []
    /// Void records that were loose, the newest last: others may go on from them.
    private(set) var passed: [LooseRecord] = []
    private(set) var memory = SequenceMemory()
    private var expectations: [ChainExpectation]
    /// An older state of the partition, to be met again as it was: see `expect`.
    private var earlier: (end: Int64, contents: [UInt8], witness: String)?
    /// What is not as it was there.
    private var difference: ChainFinding?
    /// What breaks the chain for good.
    private var stop: ChainFinding?
    private var branches: BranchTree
    /// Offsets that the log has given and does not hold any more.
    private(set) var gaps: [Range<Int64>] = []
    /// The newest positions of other chains that valid events name.
    private(set) var positions: [Topic: (position: ChainPosition, offset: Int64)] = [:]

    /// - Parameter authenticator: `nil`: only hashes are looked at.
    init(
        _ place: TopicPartition, log: [UInt8], authenticator: RecordAuthenticator?, expectations: [ChainExpectation] = []
    ) {
        self.place = place
        self.authenticator = authenticator
        let genesis = ChainHead.genesis(of: place, in: log)
        reader = authenticator.map { ChainReader(place, at: nil, log: log, authenticator: $0) }
        report = ChainReport(place, head: genesis)
        branches = BranchTree(genesis)
        self.expectations = expectations.sorted { $0.sequence < $1.sequence }
    }

    /// What all records before `end` must come to.
    mutating func expect(contents: [UInt8], before end: Int64, by witness: String) { earlier = (end, contents, witness) }

    /// The next offset.
    var next: Int64 { report.end }
    var head: ChainHead { report.head }
    /// Whether nothing more can be said of what follows.
    var isStopped: Bool { stop != nil }
    /// Whether there is something that only later records can explain.
    var isUnsettled: Bool { stop == nil && loose.contains { $0.fault == nil && ($0.sequence ?? 0) > head.sequence } }

    // MARK: Reading

    /// Takes the next record.
    mutating func read(_ record: Record) {
        guard stop == nil, record.offset >= report.end else { return }
        if record.offset > report.end { skip(to: record.offset) }
        meetEarlier()
        let hash = record.hash
        fold(record, hash)
        do throws(LogError) {
            switch try reader?.read(record) {
            case .valid(let envelope)?:
                for (topic, position) in envelope.inboxes.events { positions[topic] = (position, envelope.offset) }
                if let head = reader?.head { advance(to: head) }
            case .void?: add(LooseRecord(record, hash: hash, fault: fault(of: record)))
            case .known?: break
            case nil: readWithoutKeys(record, hash)
            }
        } catch {
            stop = ChainFinding(.unreadable, place, at: record.offset, sequence: head.sequence + 1, error.reason)
        }
    }

    /// The log does not hold what it says at `next`.
    mutating func unreadable(_ reason: String) {
        if stop == nil { stop = ChainFinding(.unreadable, place, at: next, sequence: nil, reason) }
    }

    /// The log does not have the offsets from `next` on before this one.
    mutating func skip(to offset: Int64) {
        guard offset > report.end else { return }
        gaps.append(report.end..<offset)
        if gaps.count > Self.mostFindings { gaps.removeFirst() }
        report.end = offset
    }

    private mutating func fold(_ record: Record, _ hash: [UInt8]) {
        report.end = record.offset + 1
        report.records += 1
        report.contents = Self.folded(report.contents, record, hash)
    }

    static func folded(_ contents: [UInt8], _ record: Record, _ hash: [UInt8]) -> [UInt8] {
        func bytes(_ number: Int64) -> [UInt8] {
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * Int64($0))) }
        }
        return SHA256.hash(contents + bytes(record.offset) + bytes(record.time.milliseconds) + hash)
    }

    /// Compares once what stands before the end of an earlier proof.
    private mutating func meetEarlier() {
        guard let earlier, report.end >= earlier.end else { return }
        self.earlier = nil
        guard report.end > earlier.end || report.contents != earlier.contents else { return }
        let text = "\(earlier.witness) saw other records before offset \(earlier.end), though the events are the same"
        difference = ChainFinding(.rewritten, place, at: earlier.end, text)
    }

    // MARK: Without keys

    private mutating func readWithoutKeys(_ record: Record, _ hash: [UInt8]) {
        let loose = LooseRecord(record, hash: hash, fault: nil)
        guard let sequence = loose.sequence, let previous = loose.previous, record.namesOwner else {
            var malformed = loose
            malformed.fault = "it is not made as events are"
            return add(malformed)
        }
        if let head = branches.main(takes: sequence, previous, hash, at: record.offset) {
            for (topic, position) in record.claimedPositions.events { positions[topic] = (position, record.offset) }
            return advance(to: head)
        }
        if previous == head.hash {
            var misnumbered = loose
            misnumbered.fault = "it is number \(sequence), behind number \(head.sequence)"
            return add(misnumbered)
        }
        switch branches.side(takes: sequence, previous, hash, at: record.offset) {
        case .copy: doubled(loose)
        case .fork(let other):
            report.void += 1
            note(
                ChainFinding(
                    .fork, place, at: record.offset, sequence: sequence,
                    "it names the same event before it as the record at offset \(other)"))
        case .branch: report.void += 1
        case .overtaken(let heads):
            report.void += 1
            for head in heads { advance(to: head) }
        case .stranger: add(loose)
        }
    }

    // MARK: What stands outside

    private mutating func advance(to head: ChainHead) {
        report.head = head
        report.valid += 1
        memory.remember(head.sequence, head.hash)
        meetExpectations(head)
        if !loose.isEmpty { settle() }
        for gap in gaps.filter({ $0.upperBound <= head.offset }) { lost(gap) }
        gaps.removeAll { $0.upperBound <= head.offset }
    }

    private mutating func add(_ record: LooseRecord) {
        if record.fault == nil, let sequence = record.sequence, sequence <= head.sequence {
            return memory.holds(sequence, record.hash) == true ? doubled(record) : void(record)
        }
        // A chain that has not gone on for so long will not do so any more, and what stopped it is among these.
        if loose.count < Self.window { loose.append(record) }
    }

    /// The chain has gone on: what stood in its way did no harm.
    private mutating func settle() {
        let (all, sequence) = (loose, head.sequence)
        loose = all.filter { $0.fault == nil && $0.sequence ?? 0 > sequence }
        for record in all where record.fault != nil || record.sequence ?? 0 <= sequence {
            if let fault = record.fault {
                note(
                    ChainFinding(
                        .inserted, place, at: record.offset, sequence: nil,
                        "\(fault): a record that no service wrote, or a void one that was changed"))
            } else if memory.holds(record.sequence ?? 0, record.hash) == true {
                doubled(record)
            } else {
                void(record)
            }
        }
    }

    private mutating func void(_ record: LooseRecord) {
        report.void += 1
        passed.append(record)
        if passed.count > 2 * Self.window { passed.removeFirst(Self.window) }
    }

    private mutating func doubled(_ record: LooseRecord) {
        report.void += 1
        note(
            ChainFinding(
                .doubled, place, at: record.offset, sequence: record.sequence,
                "a copy of an event that the chain has; it is void, and does no harm"))
    }

    private mutating func lost(_ gap: Range<Int64>) {
        note(
            ChainFinding(
                .removed, place, at: gap.lowerBound, sequence: nil,
                "\(Self.offsets(gap)) not there; the chain goes on, so no event of it was lost"))
    }

    static func offsets(_ range: Range<Int64>) -> String {
        range.count == 1 ? "offset \(range.lowerBound) is" : "offsets \(range.lowerBound) to \(range.upperBound - 1) are"
    }

    private mutating func note(_ finding: ChainFinding) {
        if report.findings.count < Self.mostFindings {
            report.findings.append(finding)
        } else {
            report.unlisted += 1
        }
    }

    private func fault(of record: Record) -> String? {
        switch authenticator?.verify(record) {
        case .authentic?: return nil
        case .unknownKey(let key)?: return "it is under MAC key \(key), which the chain never introduced"
        case .forged?, nil:
            return record.header(HeaderName.mac) == nil ? "it has no MAC" : "its MAC does not verify"
        }
    }

    // MARK: Witnesses

    private mutating func meetExpectations(_ head: ChainHead) {
        while let expectation = expectations.first, expectation.sequence <= head.sequence {
            expectations.removeFirst()
            guard expectation.sequence == head.sequence, expectation.hash != head.hash else { continue }
            if stop == nil {
                stop = ChainFinding(
                    .rewritten, place, at: head.offset, sequence: head.sequence,
                    "\(expectation.witness) another event with this number: what stands up to here was rewritten")
            }
        }
    }

    // MARK: The end

    /// Everything was read. Gives what it came to.
    ///
    /// - Parameter end: where the log says that the partition ends.
    mutating func finish(at end: Int64) -> ChainReport {
        if stop == nil { skip(to: end) }
        meetEarlier()
        if let finding = stop ?? Diagnosis(self).finding ?? shortened() {
            report.findings.insert(finding, at: 0)
        } else {
            for gap in gaps { lost(gap) }
            for record in loose {
                if let fault = record.fault {
                    note(ChainFinding(.inserted, place, at: record.offset, "\(fault): a record that no service wrote"))
                }
            }
        }
        if report.isIntact, let difference { note(difference) }
        if report.findings.first?.kind.isBreak != true, let place = report.findings.firstIndex(where: \.kind.isBreak) {
            report.findings.insert(report.findings.remove(at: place), at: 0)
        }
        return report
    }

    /// What others say that came after the head.
    private func shortened() -> ChainFinding? {
        guard let expectation = expectations.last, expectation.sequence > head.sequence else {
            guard let earlier, earlier.end > report.end else { return nil }
            return ChainFinding(
                .cut, place, at: report.end, "\(earlier.witness) saw it end at offset \(earlier.end): the tail was cut")
        }
        return ChainFinding(
            .cut, place, at: head.offset + 1, sequence: head.sequence + 1,
            "\(expectation.witness) event \(expectation.sequence), at offset \(expectation.offset), but the chain ends with \(head.sequence): the tail was cut"
        )
    }
}

extension Record {
    /// Whether it says that it comes from the service that the topic belongs to.
    fileprivate var namesOwner: Bool {
        partition.topic.owner.map { header(HeaderName.source) == Array("/\($0.rawValue)".utf8) } ?? true
    }

    /// The positions of other chains that it names.
    fileprivate var claimedPositions: InboxPositions {
        header(HeaderName.inboxes).flatMap { InboxPositions(encoded: String(decoding: $0, as: UTF8.self)) } ?? InboxPositions()
    }
}
