internal import EventSchema

/// Own events and inboxes.
extension DecisionLoop {
    mutating func read(_ record: Record, at local: LocalInstant, actions: inout [LoopAction<Domain>]) throws(LogError) {
        if record.partition == own {
            try readOwn(record, at: local, actions: &actions)
        } else if isOwner, let reader = readers[record.partition.topic], !paused.contains(record.partition.topic) {
            do throws(LogError) {
                readers[record.partition.topic] = try readInbox(record, with: reader, at: local)
                if open.count >= settings.longestQueue { pauseReading(record.partition, actions: &actions) }
            } catch {
                guard error.code == .truncated else { throw error }
                try readAgain(record.partition, because: error, actions: &actions)
            }
        }
    }

    // MARK: Own events

    private mutating func readOwn(_ record: Record, at local: LocalInstant, actions: inout [LoopAction<Domain>]) throws(LogError)
    {
        if let first = speculative.pending.first, let envelope = chain.read(record, madeHere: first.made) {
            return try apply(envelope, madeHere: first, at: local, actions: &actions)
        }
        let wasRecognising = chain.isRecognising
        switch try chain.read(record) {
        case .known:
            // The head, read again: what it says stands for all that lies before it.
            if wasRecognising, hasReadNothing, let envelope = EventEnvelope(record) { adopt(envelope) }
        case .void:
            counters.void += 1
            if isPending(record) {
                dropSpeculation()
                block(for: .milliseconds(1), at: local)
            }
        case .valid(let envelope):
            try apply(envelope, madeHere: nil, at: local, actions: &actions)
        }
    }

    /// Whether a record belongs to this speculation and was not confirmed. (Copies of confirmed ones are void, too.)
    private func isPending(_ record: Record) -> Bool {
        guard !speculative.pending.isEmpty, let sequence = record.header(HeaderName.sequence).flatMap({ Int64(decimal: $0) })
        else {
            return false
        }
        return sequence > chain.head.sequence && record.text(HeaderName.writer) == writer
            && record.text(HeaderName.speculation) == String(speculation)
    }

    private var hasReadNothing: Bool { lastTime.milliseconds == 0 }

    /// Takes over what the head at which reading started says of inboxes and time.
    private mutating func adopt(_ envelope: EventEnvelope) {
        inboxes = envelope.inboxes
        lastTime = envelope.time
        speculative = Speculation(head: chain.head)
        speculative.inboxes = inboxes
        speculative.time = lastTime
    }

    private mutating func apply(
        _ envelope: EventEnvelope, madeHere made: PendingEvent<Domain>?, at local: LocalInstant,
        actions: inout [LoopAction<Domain>]
    ) throws(LogError) {
        counters.valid += 1
        if let late {
            throw LogError(
                .closed, "\(own) says at offset \(envelope.offset) that the event at \(late.offset), which was read, is skipped")
        }
        if let promised, promised.sequence <= envelope.sequence {
            guard promised.sequence < envelope.sequence || promised.hash == chain.head.hash else { throw otherLog }
            self.promised = nil
        }
        if envelope.body.type != LogRecordType.skipped { inboxes = envelope.inboxes }
        age.advance(to: envelope.appended)
        if envelope.time < lastTime { forgetFuture(after: envelope.time) }
        lastTime = envelope.time
        let event: Domain.Event?
        if let made { event = made.event } else { event = try self.event(of: envelope) }
        if let event, !isProjected {
            let key = domain.key(of: event)
            var aggregate = aggregates.removeValue(forKey: key) ?? domain.initial
            domain.evolve(&aggregate, with: event, at: envelope.time)
            aggregates[key] = aggregate
            forgetSpent(touching: key, at: envelope.appended)
        }
        let answer = event.flatMap { domain.answer(to: $0) }
        remember(event, envelope)
        earn(envelope, answer: answer, at: local)
        confirm(envelope, at: local)

        let confirmed = ConfirmedEvent(event: event, envelope: envelope, position: chain.position)
        if isProjected {
            if envelope.sequence > projection.sequence {
                if projection.events.isEmpty { projection.due = local + settings.longestWait }
                projection.events.append(confirmed)
            } else if envelope.sequence > projection.begin {
                // Another instance has projected it meanwhile.
                actions.append(.happened(confirmed))
            }
        } else {
            actions.append(.happened(confirmed))
        }
        noteMilestone()
    }

    /// The clock was wrong and is right again: what was decided in the future is void, for good.
    private mutating func forgetFuture(after now: Timestamp) {
        for key in aggregates.keys {
            guard var aggregate = aggregates[key] else { continue }
            domain.forgetFuture(&aggregate, after: now)
            aggregates[key] = aggregate
        }
    }

    private mutating func event(of envelope: EventEnvelope) throws(LogError) -> Domain.Event? {
        if envelope.saysNothing { return nil }
        do throws(UnreadableBody) { return try domain.decode(envelope.body) } catch {
            poison = PoisonedPlace(event: EventPlace(own, envelope.offset), behind: chain.position)
            throw LogError(
                .unreadable,
                "\(own) has an event at offset \(envelope.offset) that this version cannot read: \(error.type), \(error.reason)")
        }
    }

    private mutating func remember(_ event: Domain.Event?, _ envelope: EventEnvelope) {
        for command in domain.commands(rememberedBy: event, envelope) {
            memory.remember(command.id, command.outcome, until: age.elapsed + command.remember)
        }
        memory.forget(before: age.elapsed)
    }

    /// Every valid event is answered by the owner that reads it, whoever wrote it.
    private mutating func earn(_ envelope: EventEnvelope, answer: Answer?, at local: LocalInstant) {
        while let first = answers.first, !isOwner, first.age + settings.longestBudget < age.elapsed { answers.removeFirst() }
        guard let answer, let replyTo = envelope.replyTo, let deadline = envelope.deadline, let causation = envelope.causation
        else { return }
        if mutation == .answersOnlyItsOwn, envelope.writer != writer { return }
        if mutation == .forgetsPredecessors, !isOwner { return }
        answers.append(
            EarnedAnswer(
                sequence: envelope.sequence, age: age.elapsed, readAt: local, replyTo: replyTo, deadline: deadline,
                answer: answer, causation: causation,
                traceParent: envelope.traceParent))
    }

    /// The event is the first that this speculation waits for, or it is foreign and ends the speculation.
    private mutating func confirm(_ envelope: EventEnvelope, at local: LocalInstant) {
        if let first = speculative.pending.first,
            first.hash == chain.head.hash || mutation == .confirmsByNumber && first.sequence == envelope.sequence
        {
            speculative.pending.removeFirst()
            if let key = first.key, let changed = speculative.aggregates[key], changed.sequence == first.sequence {
                speculative.aggregates[key] = nil
                // The rest of the batch is decided on it; what was loaded does not show the event.
                if isProjected { aggregates[key] = changed.aggregate }
            }
            if let command = first.command { speculative.commands[command] = nil }
            refusals.confirm(through: first.sequence)
            window = min(window * 2, settings.window)
            wait = max(.milliseconds(wait.milliseconds / 2), .milliseconds(1))
            if speculative.pending.isEmpty { speculative.head = chain.head }
            becomeCertain()
            return
        }
        if envelope.writer != writer { counters.foreign += 1 }
        if mutation != .keepsItsSpeculation { dropSpeculation() }
        // What was there at the take-over is the predecessor's.
        guard isOwner, envelope.writer != writer, envelope.offset >= endAtTakeOver else { return }
        contendedUntil = local + .seconds(10)
        waitedFor = nil
        wait = min(.milliseconds(wait.milliseconds * 2), settings.longestWait)
    }

    /// Remembers where a later start may begin: behind it lies everything that somebody may still wait for, and what a state in
    /// memory is made of. It never lies behind what is projected.
    private mutating func noteMilestone() {
        var span = settings.longestBudget
        if case .memory(let window) = settings.storage { span = span + window }
        while let first = milestones.first, first.age + span < age.elapsed, first.position.head.sequence <= settledSequence {
            resumptionPoint = first.position
            milestones.removeFirst()
        }
        if let last = milestones.last, (age.elapsed - last.age).milliseconds < span.milliseconds / 10 { return }
        milestones.append(Milestone(age: age.elapsed, position: chain.position))
    }

    /// Forgets aggregates that have no influence any more: a few for each event, so that no event pays for many.
    private mutating func forgetSpent(touching key: Domain.Key, at now: Timestamp) {
        guard case .memory(let window) = settings.storage else { return }
        touched.append((age.elapsed, key))
        for _ in 0..<2 {
            guard let first = touched.first, first.age + window < age.elapsed else { return }
            touched.removeFirst()
            if let aggregate = aggregates[first.key], domain.isSpent(aggregate, at: now) { aggregates[first.key] = nil }
        }
    }

    // MARK: Inboxes

    /// Starts reading the inboxes once the own events say how far they had been read.
    mutating func startReading(at local: LocalInstant, actions: inout [LoopAction<Domain>]) {
        if !clock.isKnown { askTime(at: local, actions: &actions) }
        guard isCaughtUp, readers.isEmpty else { return }
        for topic in settings.inboxes { startReading(topic, actions: &actions) }
    }

    mutating func startReading(_ topic: Topic, actions: inout [LoopAction<Domain>]) {
        let partition = TopicPartition(topic, partition)
        let inbox: Inbox
        if topic.kind == .commands {
            let named = inboxes.commands[topic]
            let committed = resumption.flatMap { $0.offset > named?.offset ?? 0 ? $0 : nil }
            inbox = .commands(CommandInbox(partition, at: committed ?? named))
        } else {
            inbox = .events(ChainReader(partition, at: inboxes.events[topic], log: logID, authenticator: authenticator))
        }
        readers[topic] = inbox
        paused.remove(topic)
        actions.append(.follow(partition, from: inbox.start))
    }

    /// What was read and is not decided is held in memory, so it is bounded; the log keeps the rest.
    private mutating func pauseReading(_ partition: TopicPartition, actions: inout [LoopAction<Domain>]) {
        paused.insert(partition.topic)
        actions.append(.unfollow(partition))
    }

    var mayResumeReading: Bool { !paused.isEmpty && open.count <= settings.longestQueue / 2 }

    /// Only in a tick: no record that was fetched before the pause can come after it.
    mutating func resumeReading(actions: inout [LoopAction<Domain>]) {
        guard mayResumeReading else { return }
        for topic in paused.sorted() {
            if let reader = readers[topic] { actions.append(.follow(TopicPartition(topic, partition), from: reader.next)) }
        }
        paused.removeAll()
    }

    /// Appends a probe, from whose acknowledgement the log's clock is learnt.
    mutating func askTime(at local: LocalInstant, actions: inout [LoopAction<Domain>]) {
        guard probe == nil else { return }
        guard local >= mayAskAt else { return actions.append(.wake(mayAskAt)) }
        // Events are numbered from 1.
        let token = AppendToken(speculation: speculation, sequence: 0)
        probe = token
        sent[token] = local
        let topic = settings.inboxes.first { $0.kind == .commands } ?? settings.events
        let record = OutgoingRecord.probe(of: TopicPartition(topic, partition), by: settings.service, authenticator)
        actions.append(.append(record, token))
    }

    private mutating func readInbox(_ record: Record, with reader: Inbox, at local: LocalInstant) throws(LogError) -> Inbox {
        let topic = record.partition.topic
        switch reader {
        case .commands(var inbox):
            guard try inbox.read(record) else { return .commands(inbox) }
            let source = OpenInput<Domain.Input>.Source.command(topic, inbox.position)
            if authenticator.accepts(record), let command = InboxMessage(command: record) {
                let message = command.awaited(atMost: settings.longestBudget)
                enqueue(try work(of: message), source, message, at: local)
            } else {
                counters.malformed += 1
                enqueue(.skip, source, nil, at: local)
            }
            return .commands(inbox)
        case .events(var chain):
            let step = try chain.read(record)
            let source = OpenInput<Domain.Input>.Source.event(topic, chain.position)
            switch step {
            case .known: break
            case .void: enqueue(.skip, source, nil, at: local)
            case .valid(let envelope) where envelope.skipped != nil: enqueue(.skip, source, nil, at: local)
            case .valid(let envelope):
                let message = InboxMessage(event: envelope).awaited(atMost: settings.longestBudget)
                do throws(LogError) {
                    enqueue(try work(of: message), source, message, at: local)
                } catch {
                    poison = PoisonedPlace(event: EventPlace(envelope.partition, envelope.offset), behind: chain.position)
                    throw error
                }
            }
            return .events(chain)
        }
    }

    private mutating func work(of message: InboxMessage) throws(LogError) -> OpenInput<Domain.Input>.Work {
        switch message.type {
        case LogRecordType.repeated: return domain.owesAnswer(to: message) ? .tell(Answer(data: message.data)) : .skip
        case LogRecordType.probe: return .skip
        default: if LogRecordType.amongEvents.contains(message.type) { return .skip }
        }
        switch domain.read(message) {
        case .input(let input): return .input(input)
        case .ignored: return .skip
        case .malformed:
            counters.malformed += 1
            return .skip
        case .unknownType:
            throw LogError(
                .unreadable,
                "\(message.partition) has a record at offset \(message.offset) of a type that this version does not know: \(message.type)"
            )
        }
    }

    /// Adds an input. Of several that need no decision, one behind the other in one inbox, only the last is kept.
    private mutating func enqueue(
        _ work: OpenInput<Domain.Input>.Work, _ source: OpenInput<Domain.Input>.Source, _ message: InboxMessage?,
        at local: LocalInstant
    ) {
        let input = OpenInput(work: work, source: source, message: message, readAt: local)
        if case .skip = work, let last = open.last, case .skip = last.work, last.source.place?.topic == source.place?.topic {
            open.last = input
        } else {
            open.append(input)
        }
    }
}
