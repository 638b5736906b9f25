public import EventLog
public import EventSchema
internal import SeededRandom

/// A log behind a network with faults, on a scheduler: everything takes time and may go wrong, and with the same seed goes
/// wrong in the same way.
public final class SimulatedBroker {
    public let scheduler: Scheduler
    public private(set) var contents: LogContents
    public var faults = NetworkFaults()
    /// Added to the simulation's time: the log's clock may be wrong, and may be set.
    public var skew = Interval.zero
    /// Called with every record as it comes to stand in the log.
    public var onAppend: (Record) -> Void = { _ in }
    private let start: Timestamp
    private var readers: [SimulatedReader] = []
    private var epochs: [TopicPartition: Int] = [:]
    private var random: SeededGenerator

    public init(_ description: LogDescription, scheduler: Scheduler, start: Timestamp) {
        contents = LogContents(description)
        self.scheduler = scheduler
        self.start = start
        random = scheduler.random.fork()
    }

    /// The log's clock.
    public var clock: Timestamp { start + .milliseconds(scheduler.now / 1_000) + skew }

    // MARK: Appending

    /// Sends a record. `completion` is called once, when the log's answer arrives or is not waited for any more.
    public func append(
        _ record: OutgoingRecord, by link: SimulatedLink, completion: @escaping (Result<Appended, LogError>) -> Void
    ) {
        if random.chance(faults.drop) {
            return fail(after: faults.messageTimeout, completion)
        }
        if random.chance(faults.lateAppend) {
            fail(after: faults.messageTimeout, completion)
            return scheduler.after(faults.messageTimeout + Int64.random(in: 0...faults.messageTimeout, using: &random)) {
                [self] in
                _ = arrive(record)
            }
        }
        var arrival = scheduler.now + transit()
        if !random.chance(faults.reorder) {
            arrival = max(arrival, link.lastArrival[record.partition] ?? 0)
            link.lastArrival[record.partition] = arrival
        }
        if random.chance(faults.duplicate) {
            scheduler.after(arrival - scheduler.now + Int64.random(in: 0...faults.duplicateWindow, using: &random)) { [self] in
                _ = arrive(record)
            }
        }
        let isAcknowledged = !random.chance(faults.loseAcknowledgement)
        if !isAcknowledged { fail(after: faults.messageTimeout, completion) }
        scheduler.after(arrival - scheduler.now) { [self] in
            let result = arrive(record)
            if isAcknowledged { scheduler.after(transit()) { completion(result) } }
        }
    }

    private func fail(after delay: Int64, _ completion: @escaping (Result<Appended, LogError>) -> Void) {
        scheduler.after(delay) { completion(.failure(LogError(.unavailable, "the append was not acknowledged in time"))) }
    }

    private func arrive(_ record: OutgoingRecord) -> Result<Appended, LogError> {
        do throws(LogError) {
            let appended = try contents.append(record, at: clock)
            if let record = contents.records(of: record.partition, from: appended.offset).first { onAppend(record) }
            for reader in readers { reader.notice(record.partition) }
            return .success(appended)
        } catch {
            return .failure(error)
        }
    }

    // MARK: Reading

    func add(_ reader: SimulatedReader) { readers.append(reader) }
    func remove(_ reader: SimulatedReader) { readers.removeAll { $0 === reader } }
    func epoch(of partition: TopicPartition) -> Int { epochs[partition, default: 0] }

    /// How long one message takes.
    func transit() -> Int64 {
        random.chance(faults.delay)
            ? Int64.random(in: 1_000...faults.longDelay, using: &random) : Int64.random(in: 200...1_500, using: &random)
    }

    func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    func chance(_ probability: Double) -> Bool { random.chance(probability) }

    // MARK: What happens to the log

    /// Another leader serves the partition: readers hear of it before they get anything else.
    public func changeLeader(of partition: TopicPartition) {
        epochs[partition, default: 0] += 1
        for reader in readers { reader.notice(partition) }
    }

    /// Another leader serves the partition, and it does not have what lies behind `offset`.
    public func truncate(_ partition: TopicPartition, at offset: Int64) {
        contents.truncate(partition, at: offset)
        changeLeader(of: partition)
    }

    /// Removes what lies before an offset.
    public func retain(_ partition: TopicPartition, from offset: Int64) { contents.retain(partition, from: offset) }

    public func commit(_ offsets: [TopicPartition: CommittedOffset], by group: String) { contents.commit(offsets, by: group) }
    public func forgetCommits(of group: String) { contents.forgetCommits(of: group) }
}

/// One producer's connection: what it sends to a partition arrives in order, unless a fault says otherwise.
public final class SimulatedLink {
    var lastArrival: [TopicPartition: Int64] = [:]

    public init() {}
}
