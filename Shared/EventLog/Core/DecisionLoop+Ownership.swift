public import EventSchema

/// Taking a partition over, giving it up, and what the group remembers of it.
extension DecisionLoop {
    mutating func takeOver(end: Int64, committed: CommittedOffset?) throws(LogError) {
        guard end >= chain.position.offset else {
            throw LogError(
                .truncated, "\(own) ends at offset \(end) and was read up to \(chain.position.offset): the log has lost data")
        }
        isOwner = true
        endAtTakeOver = end
        blockedUntil = LocalInstant(milliseconds: .min)
        window = settings.window
        if let committed, let metadata = CommitMetadata(encoded: committed.metadata) {
            resumption = CommandPosition(offset: committed.offset, time: metadata.time)
            try promise(metadata.head)
        }
    }

    /// The log once held this head, and must hold it still.
    mutating func promise(_ position: ChainPosition) throws(LogError) {
        let head = position.head
        if head.sequence > chain.head.sequence {
            // Whoever finds the later one has found the earlier one.
            if head.sequence > promised?.sequence ?? 0 { promised = head }
        } else if head.sequence == chain.head.sequence, head.hash != chain.head.hash {
            throw otherLog
        }
    }

    var otherLog: LogError {
        LogError(.truncated, "\(own) is not the log of which a position was committed: the log has lost data")
    }

    mutating func release(actions: inout [LoopAction<Domain>]) {
        isOwner = false
        dropSpeculation()
        open.removeAll()
        refusals.removeAll()
        for topic in readers.keys.sorted() { actions.append(.unfollow(TopicPartition(topic, partition))) }
        readers.removeAll()
        paused.removeAll()
        promised = nil
        resumption = nil
        // The clock runs on meanwhile, and may be set.
        clock = LogClock()
        probe = nil
        sent.removeAll()
    }

    /// What the group may store: how far commands were read whose outcome is told, and named by a confirmed event (who reads on
    /// from there must know what was refused), and for a state in memory the newest position of the own events that lies a
    /// window back.
    public func commits() -> [TopicPartition: CommittedOffset] {
        var commits: [TopicPartition: CommittedOffset] = [:]
        guard isOwner, isCaughtUp else { return commits }
        let isConfirmed =
            speculative.decided.isEmpty && answers.isEmpty && speculative.pending.isEmpty && refusals.isEmpty
        if isConfirmed || mutation == .commitsTheUnconfirmed,
            let topic = settings.inboxes.first(where: { $0.kind == .commands }),
            let position = speculative.inboxes.commands[topic]
        {
            commits[TopicPartition(topic, partition)] = CommittedOffset(
                offset: position.offset, metadata: CommitMetadata(time: position.time, head: chain.position).encoded)
        }
        if !isProjected, let position = resumptionPoint {
            commits[own] = CommittedOffset(offset: position.offset, metadata: position.encoded)
        }
        return commits
    }
}

/// The metadata of a committed offset of a commands topic: when the command before it was appended, and the chain that it
/// was decided on.
struct CommitMetadata: Hashable, Sendable {
    var time: Timestamp
    var head: ChainPosition

    init(time: Timestamp, head: ChainPosition) {
        self.time = time
        self.head = head
    }

    var encoded: String { "\(time.milliseconds);\(head.encoded)" }

    init?(encoded: String) {
        let parts = encoded.split(separator: ";")
        guard parts.count == 2, let time = Int64(parts[0]), let head = ChainPosition(encoded: parts[1]) else { return nil }
        self.init(time: Timestamp(milliseconds: time), head: head)
    }
}
