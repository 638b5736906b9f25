internal import EventSchema

/// State that is kept in a projection: loaded by batch, projected by batch, and answered after that.
extension DecisionLoop {
    /// Whether the next open input may be decided: with a projection, once what its batch reads is loaded.
    mutating func mayDecide(actions: inout [LoopAction<Domain>]) -> Bool {
        guard isProjected else { return true }
        if case .deciding(let left) = projection.phase, left > 0 { return true }
        prepareBatch(actions: &actions)
        if case .deciding(let left) = projection.phase { return left > 0 }
        return false
    }

    /// Loads what the next batch of decisions reads, once everything before it is projected.
    private mutating func prepareBatch(actions: inout [LoopAction<Domain>]) {
        if case .deciding(0) = projection.phase, speculative.pending.isEmpty { projection.phase = .idle }
        guard case .idle = projection.phase, !open.isEmpty, speculative.pending.isEmpty, !speculative.owesEvent,
            projection.events.isEmpty, projection.inFlight == nil, projection.sequence <= chain.head.sequence
        else { return }
        var keys: Set<Domain.Key> = []
        var commands: [MessageID] = []
        var count = 0
        for input in open.prefix(settings.window) {
            count += 1
            guard case .input(let work) = input.work else { continue }
            keys.insert(domain.key(of: work))
            if let message = input.message, message.isCommand { commands.append(message.id) }
        }
        if keys.isEmpty {
            projection.phase = .deciding(count)
        } else {
            projection.phase = .loading(count)
            projection.isStale = false
            actions.append(.load(LoadRequest(keys: Array(keys), commands: commands)))
        }
    }

    mutating func loaded(_ batch: LoadedBatch<Domain.Key, Domain.Aggregate>) {
        guard case .loading(let count) = projection.phase else { return }
        guard !projection.isStale else {
            projection.phase = .idle
            return
        }
        projection.phase = .deciding(count)
        aggregates = batch.aggregates
        let until = age.elapsed + settings.longestBudget + settings.duplicateWindow
        for (id, outcome) in batch.known { memory.remember(id, outcome, until: until) }
    }

    /// Hands confirmed events over, a batch at a time. Mostly what is still on its way comes in the next moment, and there is one
    /// transaction for all; but nobody waits for what is lost.
    mutating func project(at local: LocalInstant, actions: inout [LoopAction<Domain>]) {
        guard isProjected, projection.inFlight == nil, !projection.events.isEmpty else { return }
        guard speculative.pending.isEmpty || projection.events.count >= settings.window || local >= projection.due else {
            return actions.append(.wake(projection.due))
        }
        let events = Array(projection.events.prefix(2 * settings.window))
        guard let last = events.last else { return }
        projection.inFlight = events.count
        let answersFrom = resumptionPoint ?? projection.checkpoint?.answersFrom ?? origin
        let to = Checkpoint(position: last.position, answersFrom: answersFrom)
        actions.append(.project(ProjectionBatch(from: projection.checkpoint?.position, to: to, events: events)))
        projection.next = to
    }

    /// Whether the projection is behind an event by now.
    func hasProjected(_ event: SkippedEvent) -> Bool {
        projection.checkpoint.map { event.partition == own && event.offset < $0.position.offset } ?? false
    }

    private var origin: ChainPosition { ChainPosition(offset: 0, head: .genesis(of: own, in: logID)) }

    mutating func projected(_ outcome: ProjectionOutcome, actions: inout [LoopAction<Domain>]) throws(LogError) {
        guard let count = projection.inFlight else { return }
        projection.inFlight = nil
        switch outcome {
        case .projected:
            projection.checkpoint = projection.next
            settle(projection.events.prefix(count), actions: &actions)
            projection.events.removeFirst(count)
        case .conflict(let stored):
            guard let stored, stored.position.head.sequence >= projection.sequence else {
                throw LogError(.misconfigured, "the projection of \(own) was set back while it was used; it is read again")
            }
            let done = projection.events.prefix { $0.envelope.sequence <= stored.position.head.sequence }
            if let last = done.last, last.envelope.sequence == stored.position.head.sequence {
                guard last.position.head.hash == stored.position.head.hash else { throw otherLog }
            }
            projection.checkpoint = stored
            if stored.position.head.sequence > chain.head.sequence {
                // Another instance has read further. Nothing can be decided before this one has, too, up to the log's end.
                try promise(stored.position)
                interrupted(own, actions: &actions)
                endAtTakeOver = .max
            }
            settle(done, actions: &actions)
            projection.events.removeFirst(done.count)
        }
    }

    private func settle(_ events: some Sequence<ConfirmedEvent<Domain.Event>>, actions: inout [LoopAction<Domain>]) {
        for event in events { actions.append(.happened(event)) }
    }
}
