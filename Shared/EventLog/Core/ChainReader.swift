public import EventSchema

/// Decides which records of a partition are valid events. Every reader applies this one rule to the same records, so all
/// agree, for ever: **an event is valid if and only if its MAC verifies, its writer owns the topic, its sequence is the
/// head's plus one, and it names the head.**
public struct ChainReader: Sendable {
    public enum Step: Sendable {
        case valid(EventEnvelope)
        case void(Void)
        /// Read before: the head, or what lies before it.
        case known
    }

    public enum Void: String, Sendable, CaseIterable {
        /// Without a MAC, or with one that does not verify, or under a key that the chain never introduced.
        case forged
        /// Authentic, but not decided on the head: what two owners or a lost speculation leave behind.
        case outdated
        /// Authentic, but not made as this version makes events.
        case malformed
    }

    public let partition: TopicPartition
    public private(set) var position: ChainPosition
    private let authenticator: RecordAuthenticator
    /// The first event that this reader can give stands here or behind.
    private let begin: Int64
    /// Where it has given events that are skipped, as such.
    private var passedOver: Set<Int64> = []
    /// Events that this reader has given as if they counted, before it came to another one that says that they are skipped.
    /// Whoever has made anything of them must start over.
    public private(set) var late: [SkippedEvent] = []
    /// Whether the head was not yet read again since the reader was made or the log was interrupted.
    public private(set) var isRecognising: Bool
    /// A rule that is broken on purpose, to prove that simulations would notice; always `nil` in a service.
    var mutation: LoopMutation?

    /// Starts at a position that was read before, or at the beginning of the log.
    public init(_ partition: TopicPartition, at position: ChainPosition?, log: [UInt8], authenticator: RecordAuthenticator) {
        self.partition = partition
        self.authenticator = authenticator
        self.position = position ?? ChainPosition(offset: 0, head: .genesis(of: partition, in: log))
        begin = self.position.head.offset + 1
        isRecognising = false
        authenticator.introduce(self.position.head.key, at: nil)
        interrupted()
    }

    public var head: ChainHead { position.head }

    /// The log may have changed behind the reader's back: reading goes on at `position.start`. Of void records behind the head
    /// any may have been lost, and others have come to stand in their place: they are judged again.
    public mutating func interrupted() {
        isRecognising = head.sequence > 0
        position.offset = head.offset + 1
    }

    /// Takes the next record. Fails with `.truncated` when it is not the log that was read before, and with `.unreadable`
    /// when the chain's key is not held.
    public mutating func read(_ record: Record) throws(LogError) -> Step {
        if isRecognising {
            guard mutation == .overlooksTruncation || record.offset == head.offset && record.hash == head.hash else {
                throw LogError(
                    .truncated, "\(partition) holds another record than before at offset \(head.offset): the log has lost data")
            }
            isRecognising = false
            return .known
        }
        guard record.offset >= position.offset else { return .known }
        position.offset = record.offset + 1
        return try judge(record)
    }

    /// Takes the next record if it is, byte for byte, the one that was made here to follow the head. Then all that the rule asks
    /// is known, and nothing needs to be authenticated, hashed or parsed once more. `nil`, and nothing is taken, if it is not.
    mutating func read(_ record: Record, madeHere made: MadeEvent) -> EventEnvelope? {
        guard !isRecognising, record.offset >= position.offset, made.macKey == head.key,
            made.envelope.sequence == head.sequence + 1, made.envelope.previous == head.hash,
            made.envelope.body.type != LogRecordType.macKeyIntroduced, record.isCopy(of: made.record),
            authenticator.reason(toSkip: record.offset, of: partition) == nil
        else { return nil }
        let next = ChainHead(sequence: head.sequence + 1, hash: made.hash, offset: record.offset, key: head.key)
        position = ChainPosition(offset: record.offset + 1, head: next)
        var envelope = made.envelope
        envelope.offset = record.offset
        envelope.appended = record.time
        return envelope
    }

    /// The partition ends at `end`. Fails with `.truncated` when it once was longer.
    public func reachedEnd(_ end: Int64) throws(LogError) {
        guard mutation == .overlooksTruncation || !isRecognising && end >= position.offset else {
            throw LogError(
                .truncated, "\(partition) ends at offset \(end) and was read up to \(position.offset): the log has lost data")
        }
    }

    private mutating func judge(_ record: Record) throws(LogError) -> Step {
        // Cheap first: most void records are outdated ones of a lost speculation.
        guard let sequence = record.header(HeaderName.sequence).flatMap({ Int64(decimal: $0) }) else { return .void(.malformed) }
        switch authenticator.verify(record) {
        case .authentic(let key):
            guard key == head.key else { return .void(.forged) }
        case .unknownKey(let key):
            guard key == head.key else { return .void(.forged) }
            throw LogError(.unreadable, "\(partition) goes on under MAC key \(key), which this service does not hold")
        case .forged:
            return .void(.forged)
        }
        guard let owner = partition.topic.owner, record.header(HeaderName.source) == Array("/\(owner.rawValue)".utf8) else {
            return .void(.forged)
        }
        guard sequence == head.sequence + 1 else { return .void(.outdated) }
        guard var envelope = EventEnvelope(record) else { return .void(.malformed) }
        guard envelope.previous == head.hash || mutation == .acceptsForks else { return .void(.outdated) }
        var key = head.key
        if envelope.body.type == LogRecordType.macKeyIntroduced {
            guard let introduced = MACKeyIntroduced(envelope.body.data), introduced.key == key + 1 else {
                return .void(.malformed)
            }
            key = introduced.key
            authenticator.introduce(key, at: nil)
        }
        position.head = ChainHead(sequence: sequence, hash: record.hash, offset: record.offset, key: key)
        envelope.skipped = authenticator.reason(toSkip: record.offset, of: partition)
        if envelope.skipped != nil { passedOver.insert(record.offset) }
        if let skipped = SkippedEvent(envelope) {
            authenticator.skip(skipped)
            if skipped.offset >= begin, !passedOver.contains(skipped.offset) { late.append(skipped) }
        }
        return .valid(envelope)
    }
}
