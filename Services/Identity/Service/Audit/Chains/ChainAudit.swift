internal import EventLog
internal import EventSchema
internal import Runtime
internal import Synchronization

/// Walks along every chain of a log, several at once, each from its beginning.
struct ChainAudit: Sendable {
    struct Progress: Sendable {
        var records: Int
        /// An estimate, from the offsets.
        var all: Int
        var chains: Int
    }

    let log: any EventLog
    /// `nil`: only hashes are looked at.
    let authenticator: RecordAuthenticator?
    /// What was proven before.
    var earlier: LogProof?
    /// What else is known of chains, by partition.
    var expectations: [TopicPartition: [ChainExpectation]] = [:]
    /// For how long something may come that explains what stands at the end of a chain.
    var patience = Duration.seconds(5)

    /// At the same time, each with a connection of its own.
    private static let threads = 2
    /// Those that read others come first, so that what they say of them is known.
    static let topics: [Topic] = [.notifierEvents, .identityEvents, .verificationEvents]

    /// The reports by partition. Blocks; `progress` is called on this thread. Fails with `.unavailable` where the log is away.
    func run(_ stop: StopFlag, progress: (Progress) -> Void) throws -> [ChainReport] {
        let description = try log.describe()
        let ends = try ends(description)
        let work = Mutex([Int](0...description.partitions))
        let outcomes = Mailbox<Outcome>()
        for _ in 0..<Self.threads {
            OwnedThread.start(name: "audit") {
                while !stop.isRaised, let number = work.withLock({ $0.popLast() }) {
                    outcomes.send(outcome(number, description, ends, stop) { outcomes.send(.read($0)) })
                }
                outcomes.send(.idle)
            }
        }
        var (reports, failure): ([ChainReport], (any Error)?) = ([], nil)
        var state = Progress(records: 0, all: Int(ends.values.reduce(0, +)), chains: 0)
        var running = Self.threads
        while running > 0 {
            for outcome in outcomes.receive(within: .milliseconds(200)) {
                switch outcome {
                case .read(let count): state.records += count
                case .walked(let some):
                    reports += some
                    state.chains = reports.count
                case .failed(let error):
                    failure = failure ?? error
                    work.withLock { $0 = [] }
                case .idle: running -= 1
                }
            }
            progress(state)
        }
        if let failure { throw failure }
        if stop.isRaised { throw CancellationError() }
        return reports.sorted { $0.place < $1.place }
    }

    private enum Outcome: Sendable {
        case read(Int)
        case walked([ChainReport])
        case failed(any Error)
        case idle
    }

    private func ends(_ description: LogDescription) throws(LogError) -> [TopicPartition: Int64] {
        let consumer = try log.makeConsumer(client: "audit", group: nil)
        defer { consumer.close() }
        return try consumer.ends(of: Self.topics + [.keys], partitions: description.partitions)
    }

    private func outcome(
        _ number: Int, _ description: LogDescription, _ ends: [TopicPartition: Int64], _ stop: StopFlag,
        read: (Int) -> Void
    ) -> Outcome {
        do {
            if number == description.partitions { return .walked([try keys(description, ends, stop, read)]) }
            var said: [Topic: [ChainExpectation]] = [:]
            var reports: [ChainReport] = []
            for topic in Self.topics {
                let place = TopicPartition(topic, number)
                var walk = ChainWalk(
                    place, log: description.id, authenticator: authenticator,
                    expectations: expectations[place, default: []] + said[topic, default: []] + proven(place))
                if let chain = earlier?.chain(place) {
                    walk.expect(contents: chain.contents, before: chain.end, by: earlier?.witness ?? "")
                }
                reports.append(try walked(&walk, to: ends[place] ?? 0, stop, read))
                for (other, (position, offset)) in walk.positions where position.head.sequence > 0 {
                    said[other, default: []].append(
                        ChainExpectation(
                            sequence: position.head.sequence, hash: position.head.hash, offset: position.head.offset,
                            witness: "the event at \(place), offset \(offset), was decided after"))
                }
            }
            return .walked(reports)
        } catch {
            return .failed(error)
        }
    }

    private func proven(_ place: TopicPartition) -> [ChainExpectation] {
        guard let earlier, let chain = earlier.chain(place), chain.sequence > 0 else { return [] }
        return [
            ChainExpectation(
                sequence: chain.sequence, hash: chain.hash, offset: chain.offset, witness: "\(earlier.witness) saw")
        ]
    }

    private func walked(
        _ walk: inout ChainWalk, to end: Int64, _ stop: StopFlag, _ read: (Int) -> Void
    ) throws(LogError) -> ChainReport {
        let consumer = try log.makeConsumer(client: "audit", group: nil)
        defer { consumer.close() }
        var reading = PartitionReading(walk.place, from: 0, over: consumer)
        var deadline: ContinuousClock.Instant?
        while !walk.isStopped, !stop.isRaised {
            // What stands at the end may be explained by what comes next, where the log is in use.
            if reading.next >= end {
                guard walk.isUnsettled else { break }
                if deadline == nil { deadline = .now + patience }
                if let deadline, .now >= deadline { break }
            }
            do throws(LogError) {
                for item in try reading.items(before: deadline == nil ? end : .max, within: .milliseconds(100)) {
                    switch item {
                    case .missing(let offset): walk.skip(to: offset)
                    case .records(let records):
                        for record in records { walk.read(record) }
                        read(records.count)
                    }
                }
            } catch {
                guard error.code == .unreadable else { throw error }
                walk.unreadable(error.reason)
            }
        }
        return walk.finish(at: end)
    }

    private func keys(
        _ description: LogDescription, _ ends: [TopicPartition: Int64], _ stop: StopFlag, _ read: (Int) -> Void
    ) throws(LogError) -> ChainReport {
        let place = TopicPartition(.keys, 0)
        let end = ends[place] ?? 0
        let before = earlier.flatMap { earlier in earlier.chain(place).map { ($0.end, $0.contents, earlier.witness) } }
        let consumer = try log.makeConsumer(client: "audit", group: nil)
        defer { consumer.close() }
        var walk = KeysWalk(log: description.id, authenticator: authenticator)
        var reading = PartitionReading(place, from: 0, over: consumer)
        while reading.next < end, !stop.isRaised {
            for item in try reading.items(before: end) {
                switch item {
                case .missing(let offset): walk.skip(to: offset)
                case .records(let records):
                    for record in records { walk.read(record, earlier: before) }
                    read(records.count)
                }
            }
        }
        return walk.finish(at: end, earlier: before)
    }
}
