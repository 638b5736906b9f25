public import EventLog
public import EventSchema
internal import Postgres
internal import Sealing

/// How far the projection is, and the events that it cannot take: what `identity status` and `identity poison` show. Every call
/// blocks.
public struct ProjectionStatus: Sendable {
    /// One partition of `identity.events`.
    public struct Partition: Sendable {
        public var partition: Int
        /// The next offset to project, and the events that are projected.
        public var offset: Int64
        public var events: Int64
        /// Offsets that are not projected yet.
        public var lag: Int64
        /// Records before `offset` that count for nothing.
        public var void: Int64
        /// Where the partition stands still.
        public var poison: PoisonEvent?
    }

    private let access: OperatorAccess
    private let source: ReplaySource
    private let schema: String

    public init(_ configuration: IdentityConfiguration, log: any EventLog) throws {
        self.init(try OperatorAccess(configuration, log: log))
    }

    init(_ access: OperatorAccess, schema: String = "identity") {
        self.access = access
        self.schema = schema
        source = ReplaySource(access)
    }

    public func partitions() throws -> [Partition] {
        try access.authenticator.readAnnouncements(of: access.log)
        let positions = try positions()
        let scan = try source.scan("status")
        defer { scan.close() }
        return try (0..<scan.partitions(of: .identityEvents)).map { number in
            let partition = TopicPartition(.identityEvents, number)
            let position = positions[number]
            let (offset, events) = (position?.offset ?? 0, position?.head.sequence ?? 0)
            let end = try scan.end(of: partition)
            return Partition(
                partition: number, offset: offset, events: events, lag: max(0, end - offset), void: offset - events,
                poison: try poison(in: partition, from: position))
        }
    }

    private func positions() throws -> [Int: ChainPosition] {
        let connection = try PostgresConnection(access.database)
        defer { connection.close() }
        return try ShadowStore.positions(in: schema, over: connection)
    }

    /// The first event behind a position that cannot be read and is not skipped.
    private func poison(in partition: TopicPartition, from position: ChainPosition?) throws(LogError) -> PoisonEvent? {
        let scan = try source.scan("status")
        defer { scan.close() }
        scan.follow(partition, from: position, upTo: try scan.end(of: partition))
        var skipped = 0
        var before = position
        while !scan.isDone {
            for batch in try scan.next(within: .seconds(1)) {
                for envelope in batch.events {
                    do throws(LogError) {
                        _ = try source.event(of: envelope, after: before, &skipped)
                    } catch {
                        guard error.code == .unreadable else { throw error }
                        return PoisonEvent(envelope, because: error)
                    }
                }
                before = batch.position
            }
        }
        return nil
    }

    // MARK: Skipping

    public enum Answer: Equatable, Sendable, CustomStringConvertible {
        case done
        /// There is no such event, or it can be read.
        case noPoison
        /// Others have written at the same time, again and again.
        case contended

        public var description: String {
            switch self {
            case .done: "the event is skipped: instances of Identity go on within seconds"
            case .noPoison: "the partition does not stand still there"
            case .contended: "other events came in between each time; try again"
            }
        }
    }

    /// Has every reader pass over the event at which a partition stands still, for good: an event says so, with the reason. It names
    /// the head of the chain like every other, so it is valid only if nobody else has written meanwhile. After that the topic
    /// `keys` tells everybody; if that did not come about, the same call makes up for it.
    public func skip(_ offset: Int64, ofPartition number: Int, reason: String) throws -> Answer {
        guard try (0..<access.log.describe().partitions).contains(number) else { return .noPoison }
        let partition = TopicPartition(.identityEvents, number)
        let skipped = SkippedEvent(partition, offset: offset, reason: reason)
        try access.authenticator.readAnnouncements(of: access.log)
        if isKnown(skipped) { return .noPoison }
        let position = try positions()[number]
        let producer = try access.log.makeProducer(client: "operator")
        defer { producer.close() }
        guard let stuck = try poison(in: partition, from: position), stuck.offset == offset else {
            guard try isSkipped(skipped, behind: nil) else { return .noPoison }
            try producer.append(announcement(of: skipped), within: .seconds(10))
            return .done
        }
        for _ in 0..<20 {
            let (head, last) = try end(of: partition, from: position)
            guard let last else { return .noPoison }
            var chain = try ChainWriter(
                partition, after: head, authenticator: access.authenticator, writer: MessageID.random().text)
            let record = chain.append(skipped.body, id: .random(), key: stuck.key, at: last.time, inboxes: last.inboxes)
            var failure: LogError?
            do throws(LogError) { try producer.append(record, within: .seconds(10)) } catch { failure = error }
            // It may stand there although nobody said so.
            if try isSkipped(skipped, behind: position) {
                try producer.append(announcement(of: skipped), within: .seconds(10))
                return .done
            }
            if let failure { throw failure }
        }
        return .contended
    }

    private func isKnown(_ skipped: SkippedEvent) -> Bool {
        source.skipped.contains { $0.partition == skipped.partition && $0.offset == skipped.offset }
    }

    private func isSkipped(_ skipped: SkippedEvent, behind position: ChainPosition?) throws(LogError) -> Bool {
        try SkippedEvents.contains(
            skipped.offset, of: skipped.partition, behind: position, in: access.log, authenticator: access.authenticator)
    }

    /// In the words of the event in the chain.
    private func announcement(of skipped: SkippedEvent) -> OutgoingRecord {
        let decided = source.skipped.first { $0.partition == skipped.partition && $0.offset == skipped.offset }
        return (decided ?? skipped).announcement(by: access.authenticator)
    }

    /// The head of a chain, and its event where that is behind the position.
    private func end(
        of partition: TopicPartition, from position: ChainPosition?
    ) throws(LogError) -> (ChainHead, EventEnvelope?) {
        let scan = try source.scan("operator")
        defer { scan.close() }
        scan.follow(partition, from: position, upTo: try scan.end(of: partition))
        var last: EventEnvelope?
        while !scan.isDone { for batch in try scan.next(within: .seconds(1)) { last = batch.events.last ?? last } }
        guard let position = scan.position(of: partition) else {
            throw LogError(.closed, "\(partition) is not read any more")
        }
        return (position.head, last)
    }
}

/// A valid event that this version cannot read.
public struct PoisonEvent: Sendable {
    public var partition: Int
    public var offset: Int64
    public var sequence: Int64
    public var type: String
    public var time: Timestamp
    /// In bytes.
    public var size: Int
    public var problem: String
    let key: [UInt8]

    init(_ envelope: EventEnvelope, because error: LogError) {
        partition = envelope.partition.partition
        offset = envelope.offset
        sequence = envelope.sequence
        type = envelope.body.type
        time = envelope.time
        size = envelope.body.data.count
        problem = error.reason
        key = envelope.key
    }
}
