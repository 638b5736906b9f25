internal import EventSchema

/// Where a partition begins and ends, and what to do when that has changed.
extension DecisionLoop {
    mutating func reachedEnd(
        _ partition: TopicPartition, end: Int64, actions: inout [LoopAction<Domain>]
    ) throws(LogError) {
        if partition == own {
            try chain.reachedEnd(end)
            if endAtTakeOver == .max { endAtTakeOver = end }
        } else {
            switch readers[partition.topic] {
            case .commands(let inbox):
                do throws(LogError) {
                    try inbox.reachedEnd(end)
                } catch {
                    try readAgain(partition, because: error, actions: &actions)
                }
            case .events(let chain): try chain.reachedEnd(end)
            case nil: break
            }
        }
    }

    /// Commands that no valid event names may be lost: what is left is read again from where the last one says. What that says
    /// must exist.
    mutating func readAgain(
        _ partition: TopicPartition, because error: LogError, actions: inout [LoopAction<Domain>]
    ) throws(LogError) {
        guard case .commands(let inbox) = readers[partition.topic],
            inbox.position.offset > inboxes.offset(of: partition.topic)
        else { throw error }
        resumption = nil
        interrupted(partition, actions: &actions)
    }

    mutating func outOfRange(
        _ partition: TopicPartition, begin: Int64, end: Int64, actions: inout [LoopAction<Domain>]
    ) throws(LogError) {
        guard partition != own, case .commands(var inbox) = readers[partition.topic] else {
            if partition == own || readers[partition.topic] != nil {
                throw LogError(
                    .truncated, "\(partition) holds offsets \(begin) to \(end) and was read elsewhere: the log has lost data")
            }
            return
        }
        do throws(LogError) {
            try inbox.skip(to: begin, end: end)
        } catch {
            return try readAgain(partition, because: error, actions: &actions)
        }
        readers[partition.topic] = .commands(inbox)
        paused.remove(partition.topic)
        actions.append(.follow(partition, from: inbox.start))
    }

    /// What was read before is looked at again. Commands that no valid event names may have been lost: they are forgotten
    /// and read again from where the last valid event says.
    mutating func interrupted(_ partition: TopicPartition, actions: inout [LoopAction<Domain>]) {
        if partition == own {
            // Void records may have been lost, so where they ended is nothing to wait for; the new end is told.
            endAtTakeOver = isCaughtUp ? chain.head.offset + 1 : .max
            chain.interrupted()
            actions.append(.follow(own, from: chain.position.start))
            return
        }
        switch readers[partition.topic] {
        case .events(var chain):
            chain.interrupted()
            readers[partition.topic] = .events(chain)
            paused.remove(partition.topic)
            actions.append(.follow(partition, from: chain.position.start))
        case .commands:
            dropSpeculation()
            open = Queue(open.filter { $0.source.place?.topic != partition.topic })
            startReading(partition.topic, actions: &actions)
        case nil: break
        }
    }
}
