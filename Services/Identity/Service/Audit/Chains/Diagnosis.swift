internal import EventLog
internal import EventSchema

/// What was done to a chain that does not go on, told from the records that are left over.
struct Diagnosis {
    /// `nil` where nothing is wrong.
    let finding: ChainFinding?

    init(_ walk: ChainWalk) {
        let head = walk.head
        let runs = Self.runs(walk).filter { !$0.isExcused(head) }
        if let run = runs.max(by: { ($0.records.count, $0.records[0].offset) < ($1.records.count, $1.records[0].offset) }) {
            finding = Self.interruption(walk, run)
        } else {
            finding = Self.lastRecord(walk)
        }
    }

    /// Records that follow from each other and claim places behind the head.
    private struct Run {
        /// In the order of the log.
        var records: [LooseRecord]
        /// Whether they go on from a void event that itself goes on from the chain: then nothing is missing.
        var isFork: Bool

        /// For so long nobody goes on with a speculation of which nothing comes back.
        private static let longest = Interval.seconds(30)
        private static let most = 1_024

        /// Whether the rules explain it: one speculation that came too late, or whose beginning was lost, and after which the
        /// chain has gone on.
        func isExcused(_ head: ChainHead) -> Bool {
            let times = records.compactMap(\.time)
            guard let first = times.min(), let last = times.max(), last - first <= Self.longest, records.count <= Self.most,
                records.allSatisfy({ $0.speculation == records[0].speculation && $0.previous != head.hash })
            else { return false }
            return isFork || records.allSatisfy { $0.offset < head.offset }
        }
    }

    private static func runs(_ walk: ChainWalk) -> [Run] {
        let ahead = walk.loose.filter { $0.fault == nil && $0.sequence ?? 0 > walk.head.sequence }
        if ahead.isEmpty { return [] }
        // Records may stand before those that they follow from.
        var records: [[UInt8]: LooseRecord] = [:]
        for record in walk.passed + ahead { records[record.hash] = record }
        var roots: [[UInt8]: [UInt8]] = [:]
        func root(of hash: [UInt8]) -> [UInt8] {
            var path: [[UInt8]] = []
            var hash = hash
            while roots[hash] == nil, let parent = records[hash]?.previous, records[parent] != nil, path.count < records.count {
                path.append(hash)
                hash = parent
            }
            let root = roots[hash] ?? hash
            for step in path { roots[step] = root }
            return root
        }
        return Dictionary(grouping: ahead) { root(of: $0.hash) }.map { root, members in
            let origin = records[root]
            let isFork = walk.memory.holds((origin?.sequence ?? 0) - 1, origin?.previous ?? []) == true
            return Run(records: members, isFork: isFork && origin?.sequence ?? 0 <= walk.head.sequence)
        }
    }

    private static func interruption(_ walk: ChainWalk, _ whole: Run) -> ChainFinding? {
        let (head, place, run) = (walk.head, walk.place, whole.records)
        guard let first = run.first, let sequence = run.compactMap(\.sequence).min() else { return nil }
        if whole.isFork {
            return ChainFinding(
                .moved, place, at: first.offset, sequence: sequence,
                "it goes on from a void event, as no service does for so long: another event was put before that one")
        }
        if let next = run.first(where: { $0.previous == head.hash && $0.sequence == head.sequence + 1 }) {
            return misplacement(walk, first, next)
        }
        let missing = sequence - head.sequence - 1
        let members = Set(run.map(\.offset))
        // With keys only what is not authentic can stand in an event's place; without them, anything.
        let intruder = walk.loose.first { record in
            !members.contains(record.offset) && record.offset > head.offset && record.offset < first.offset
                && (record.fault != nil || walk.isWithoutKeys)
        }
        if missing >= 1, let intruder {
            let why = intruder.fault ?? "it does not follow from event \(head.sequence)"
            return ChainFinding(
                .changed, place, at: intruder.offset, sequence: head.sequence + 1,
                "\(why), and event \(sequence) at offset \(first.offset) names another record before it")
        }
        if let gap = walk.gaps.first(where: { $0.lowerBound > head.offset && $0.upperBound <= first.offset }) {
            return ChainFinding(
                .removed, place, at: gap.lowerBound, sequence: head.sequence + 1,
                "\(ChainWalk.offsets(gap)) not there, and event \(sequence) at offset \(first.offset) names what stood there")
        }
        if missing >= 1 {
            let events =
                missing == 1 ? "event \(head.sequence + 1) is" : "events \(head.sequence + 1) to \(sequence - 1) are"
            return ChainFinding(
                .removed, place, at: first.offset, sequence: head.sequence + 1,
                "\(events) not there: event \(sequence), at this offset, names one that nobody has")
        }
        if walk.isWithoutKeys {
            return ChainFinding(
                .changed, place, at: head.offset, sequence: head.sequence,
                "event \(sequence) at offset \(first.offset) names another record before it")
        }
        return ChainFinding(
            .removed, place, at: first.offset, sequence: head.sequence,
            "event \(sequence), at this offset, names another event before it than the one at offset \(head.offset)")
    }

    /// The event that the chain goes on with is there, at a place where it cannot count.
    private static func misplacement(_ walk: ChainWalk, _ first: LooseRecord, _ next: LooseRecord) -> ChainFinding {
        let (head, place) = (walk.head, walk.place)
        guard next.offset < head.offset, let sequence = first.sequence else {
            return ChainFinding(
                .unfit, place, at: next.offset, sequence: next.sequence,
                "it is authentic, but nothing that the chain could hold here: of another writer, or under another MAC key")
        }
        if sequence - head.sequence == head.offset - first.offset {
            return ChainFinding(
                .swapped, place, at: first.offset, sequence: head.sequence,
                "event \(sequence) stands here, and event \(head.sequence) at offset \(head.offset): they were swapped")
        }
        return ChainFinding(
            .moved, place, at: first.offset, sequence: head.sequence,
            "event \(head.sequence) stands at offset \(head.offset), behind events that follow from it")
    }

    /// Nothing follows, so that only the last records themselves can tell.
    private static func lastRecord(_ walk: ChainWalk) -> ChainFinding? {
        let (head, place) = (walk.head, walk.place)
        let left = walk.loose.first { record in
            record.offset > head.offset && record.fault != nil && record.looksLikeEvent
                && (record.sequence ?? .max > head.sequence || record.previous == head.hash)
        }
        if let left {
            return ChainFinding(
                .changed, place, at: left.offset, sequence: head.sequence + 1, "\(left.fault ?? ""): the chain ends before it")
        }
        if let gap = walk.gaps.last, gap.upperBound == walk.next, gap.lowerBound > head.offset {
            return ChainFinding(
                .cut, place, at: gap.lowerBound, sequence: head.sequence + 1,
                "\(ChainWalk.offsets(gap)) not there any more: the tail was cut")
        }
        return nil
    }
}
