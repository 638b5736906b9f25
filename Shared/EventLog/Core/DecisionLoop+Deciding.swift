internal import Crypto
internal import EventSchema

/// Decisions on the speculative state.
extension DecisionLoop {
    mutating func decideOpen(at local: LocalInstant, actions: inout [LoopAction<Domain>]) {
        guard isCaughtUp, local >= blockedUntil, let now = clock.now(at: local), !isGivingWay(at: local) else { return }
        introduceKeys(now: now, local: local, actions: &actions)
        while speculative.pending.count < window, mayDecide(actions: &actions), let input = open.first {
            guard isTimeCertain(for: input, at: local) else {
                askTime(at: local, actions: &actions)
                break
            }
            open.removeFirst()
            if case .deciding(let left) = projection.phase { projection.phase = .deciding(left - 1) }
            decide(input, now: now, local: local, actions: &actions)
            // An event names every refusal that it passes, and no record takes any number of them.
            if refusals.count >= settings.refusalsPerEvent { markPassed(now: now, local: local, actions: &actions) }
        }
        markPassed(now: now, local: local, actions: &actions)
        becomeCertain()
    }

    /// While another owner is about, each waits a random time before it decides anything new: who decides first is mostly read
    /// by the other one before that decides too, and goes on to be first. Where both decide at once, one of two records is void.
    private mutating func isGivingWay(at local: LocalInstant) -> Bool {
        guard mutation != .neverGivesWay, local < contendedUntil, speculative.pending.isEmpty,
            let place = open.first?.source.place
        else { return false }
        if let waitedFor, waitedFor == place { return false }
        waitedFor = place
        block(for: .milliseconds(Int64.random(in: 0...wait.milliseconds, using: &random)), at: local)
        return local < blockedUntil
    }

    /// A command is decided only when it is certainly within its budget, and dropped only when it is certainly past it. While
    /// neither is, the time is asked for, and goes on.
    private func isTimeCertain(for input: OpenInput<Domain.Input>, at local: LocalInstant) -> Bool {
        guard let message = input.message, message.isCommand, message.isPerishable, let deadline = message.deadline,
            let now = clock.now(at: local)
        else { return true }
        if mutation == .guessesTheTime { return true }
        if clock.isKnown(since: input.readAt) { return !clock.mayBePast(deadline, at: local) || deadline < now }
        // A time that is still to come, as far as is known, was stamped after the clock was set ahead.
        return !clock.mayBePast(deadline, at: local) && clock.mayBePast(message.time, at: local)
    }

    private mutating func decide(
        _ input: OpenInput<Domain.Input>, now: Timestamp, local: LocalInstant, actions: inout [LoopAction<Domain>]
    ) {
        guard input.source.lies(behind: speculative.inboxes) else { return }
        advance(past: input.source)
        let work: Domain.Input
        switch input.work {
        case .input(let input): work = input
        case .tell(let answer): return tellLater(input, answer)
        case .skip: return pass(input, certainAt: speculative.head.sequence)
        }
        counters.decided += 1
        if let message = input.message, message.isCommand, repeated(input, message, local: local, actions: &actions) {
            return
        }
        let key = domain.key(of: work)
        let onItsWay = mutation == .decidesOnConfirmedState ? nil : speculative.aggregates[key]?.aggregate
        let aggregate = onItsWay ?? aggregates[key] ?? domain.initial
        let time = decisionTime(input.message?.time ?? now)
        switch domain.decide(work, at: time, given: aggregate) {
        case .event(let event):
            // After an outage nobody gets a burst of stale events. A refusal is one, late or not: who was in time may have told
            // it, and the same command must not be decided otherwise when it comes again.
            if let message = input.message, message.isCommand, message.isPerishable, let deadline = message.deadline,
                now > deadline, mutation != .ignoresBudgets
            {
                return expire(input, message, now: now)
            }
            speculate(event, key: key, aggregate: aggregate, from: input, at: time, local: local, actions: &actions)
        case .refusal(let code):
            refuse(input, code: code, now: now)
        case .nothing:
            pass(input)
        }
    }

    /// The time of a decision never runs back before the last event's, unless that is over two minutes ahead: then a clock
    /// was wrong, and the append time rules.
    private func decisionTime(_ appended: Timestamp) -> Timestamp {
        let last = speculative.time
        if mutation == .runsBackInTime { return appended }
        return last > appended && last - appended <= .minutes(2) ? last : appended
    }

    private mutating func advance(past source: OpenInput<Domain.Input>.Source) {
        switch source {
        case .command(let topic, let position): speculative.inboxes.commands[topic] = position
        case .event(let topic, let position): speculative.inboxes.events[topic] = position
        case .submission: break
        }
        if mutation == .takesOrderForGranted { return }
        if settings.inboxes.count > 1 || source.place == nil { speculative.isUndetermined = true }
    }

    // MARK: Outcomes

    private mutating func speculate(
        _ event: Domain.Event, key: Domain.Key, aggregate: Domain.Aggregate, from input: OpenInput<Domain.Input>,
        at time: Timestamp,
        local: LocalInstant, actions: inout [LoopAction<Domain>]
    ) {
        let message = input.message
        let body = domain.encode(event)
        // What no record asks for belongs where its subject does.
        let recordKey = message?.key ?? body.subject.flatMap(Subject.init)?.routingKey.bytes ?? []
        let sequence = append(
            body, event, key: recordKey, time: time, cause: message, aggregate: key, local: local, actions: &actions)
        var aggregate = aggregate
        domain.evolve(&aggregate, with: event, at: time)
        speculative.aggregates[key] = (aggregate, sequence)
        if let message, message.isCommand { speculative.commands[message.id] = domain.commandAnswer(to: event) }
        speculative.decided.append(DecidedInput(input: input, sequence: sequence, outcome: .event))
    }

    /// A refusal is told once the head that it was decided on is settled; where another owner could have decided otherwise,
    /// once an event is settled that passes the command.
    private mutating func refuse(_ input: OpenInput<Domain.Input>, code: String, now: Timestamp) {
        counters.refused += 1
        guard let message = input.message, message.isCommand else { return pass(input) }
        let refusal = refusals.append(
            RefusedCommand(id: message.id, code: code, fingerprint: message.fingerprint, remember: memorable(message)))
        if let deadline = message.deadline, now > deadline { return pass(input, refusal: refusal) }
        tellLater(input, domain.answer(forRefusal: code), refusal: refusal)
    }

    private mutating func tellLater(_ input: OpenInput<Domain.Input>, _ answer: Answer?, refusal: Int? = nil) {
        guard let answer, let message = input.message, message.replyTo != nil, domain.owesAnswer(to: message) else {
            return pass(input, refusal: refusal)
        }
        speculative.passed += 1
        if speculative.isUndetermined { speculative.owesEvent = true }
        speculative.decided.append(
            DecidedInput(input: input, sequence: certainty, outcome: .answer(answer), refusal: refusal))
    }

    /// What must be confirmed before what leads to no event is certain.
    private var certainty: Int64 { speculative.head.sequence + (speculative.isUndetermined ? 1 : 0) }

    private mutating func pass(_ input: OpenInput<Domain.Input>, refusal: Int? = nil, certainAt sequence: Int64? = nil) {
        speculative.passed += 1
        speculative.decided.append(
            DecidedInput(input: input, sequence: sequence ?? certainty, outcome: .nothing, refusal: refusal))
    }

    /// Another owner may have decided it in time: only an event that passes it makes it certain that nobody did.
    private mutating func passUncertain(_ input: OpenInput<Domain.Input>, refusal: Int? = nil) {
        speculative.isUndetermined = true
        pass(input, refusal: refusal)
    }

    private mutating func expire(_ input: OpenInput<Domain.Input>, _ message: InboxMessage, now: Timestamp) {
        counters.expired += 1
        // A copy may still come that is not over its budget; what is older than copies can be is not worth a word.
        var refusal: Int?
        if let deadline = message.deadline, now < deadline + settings.duplicateWindow {
            refusal = refusals.append(
                RefusedCommand(
                    id: message.id, code: nil, fingerprint: message.fingerprint,
                    remember: settings.longestBudget + settings.duplicateWindow))
        }
        passUncertain(input, refusal: refusal)
    }

    /// Whether the command is one whose outcome is known; then it is answered again, to the address in this copy.
    private mutating func repeated(
        _ input: OpenInput<Domain.Input>, _ message: InboxMessage, local: LocalInstant, actions: inout [LoopAction<Domain>]
    ) -> Bool {
        if mutation == .forgetsCommands { return false }
        switch outcome(of: message.id) {
        case .committed(let answer): repeatAnswer(input, message, answer, local: local, actions: &actions)
        case .refused(let code): tellLater(input, domain.answer(forRefusal: code))
        // This very record stays dropped.
        case .expired(let fingerprint) where fingerprint == message.fingerprint: passUncertain(input)
        case .expired, nil: return false
        }
        counters.repeated += 1
        return true
    }

    /// What became of a command, as far as pending and confirmed events say.
    private func outcome(of command: MessageID) -> CommandOutcome? {
        if let answer = speculative.commands[command] { return .committed(answer) }
        if let known = memory[command], known.isFinal { return known }
        return refusals[command].map { CommandOutcome($0) } ?? memory[command]
    }

    private mutating func repeatAnswer(
        _ input: OpenInput<Domain.Input>, _ message: InboxMessage, _ answer: CommandAnswer, local: LocalInstant,
        actions: inout [LoopAction<Domain>]
    ) {
        let outcome: DecidedInput<Domain.Input>.Outcome
        switch answer {
        case .elsewhere(let answer) where message.replyTo != nil && domain.owesAnswer(to: message):
            return askElsewhere(input, message, answer, local: local, actions: &actions)
        case .own(let answer): outcome = .answer(answer)
        case .elsewhere, .none: outcome = .nothing
        }
        speculative.passed += 1
        speculative.decided.append(DecidedInput(input: input, sequence: speculative.head.sequence, outcome: outcome))
    }

    /// The service that owes the answer tells it when it has come as far as this record, and so past the command's event.
    private mutating func askElsewhere(
        _ input: OpenInput<Domain.Input>, _ message: InboxMessage, _ answer: Answer, local: LocalInstant,
        actions: inout [LoopAction<Domain>]
    ) {
        let body = EventBody(type: LogRecordType.repeated, subject: message.subject, data: answer.data)
        let sequence = append(
            body, nil, key: message.key, time: decisionTime(message.time), cause: message, isOutcome: false, aggregate: nil,
            local: local,
            actions: &actions)
        speculative.decided.append(DecidedInput(input: input, sequence: sequence, outcome: .event))
    }

    // MARK: Appending

    private mutating func append(
        _ body: EventBody, _ event: Domain.Event?, key: [UInt8], time: Timestamp, cause: InboxMessage?, isOutcome: Bool = true,
        aggregate: Domain.Key?, local: LocalInstant, actions: inout [LoopAction<Domain>]
    ) -> Int64 {
        let sequence = speculative.head.sequence + 1
        // Whoever waits is told once, by the service that owes the answer; so only its events say who waits.
        let awaited = cause.flatMap { domain.owesAnswer(to: $0) ? $0 : nil }
        let draft = EventDraft(
            id: eventID(sequence), body: body, key: key, time: time, inboxes: speculative.inboxes, writer: writer,
            service: settings.service, speculation: speculation, causation: isOutcome ? cause?.id : nil,
            traceParent: cause?.traceParent, replyTo: awaited?.replyTo, deadline: awaited?.deadline,
            remember: isOutcome ? memorable(cause) : .zero, refused: nameRefusals(in: sequence))
        let record = draft.record(after: speculative.head, in: own, by: authenticator)
        let hash = record.hash
        let made = MadeEvent(
            record: record, hash: hash, macKey: speculative.head.key, envelope: draft.envelope(after: speculative.head, in: own))
        speculative.head.sequence = sequence
        speculative.head.hash = hash
        speculative.time = time
        speculative.isUndetermined = false
        speculative.owesEvent = false
        speculative.passed = 0
        speculative.pending.append(
            PendingEvent(
                made: made, event: event, key: aggregate,
                command: cause.flatMap { isOutcome && $0.isCommand ? $0.id : nil }, sent: local))
        let token = AppendToken(speculation: speculation, sequence: sequence)
        sent[token] = local
        actions.append(.append(record, token))
        return sequence
    }

    /// How long a command's outcome is remembered: as long as it may come again, at least as long as a copy of it may.
    private func memorable(_ cause: InboxMessage?) -> Interval {
        guard let cause, cause.isCommand else { return .zero }
        return max(cause.remember, settings.longestBudget + settings.duplicateWindow)
    }

    /// No two events share writer, speculation and sequence.
    private func eventID(_ sequence: Int64) -> MessageID {
        MessageID(digest: SHA256.hash(Array("\(own)/\(writer)/\(speculation)/\(sequence)".utf8)))
    }

    private mutating func nameRefusals(in sequence: Int64) -> [RefusedCommand] {
        let named = refusals.name(in: sequence)
        return mutation == .namesNoRefusals ? [] : named
    }

    /// Writes an event of the log itself where no domain event came to pass what must be passed.
    private mutating func markPassed(now: Timestamp, local: LocalInstant, actions: inout [LoopAction<Domain>]) {
        guard speculative.pending.count < window,
            speculative.owesEvent || refusals.unnamed >= settings.refusalsPerEvent
                || speculative.passed >= settings.passedPerEvent
        else { return }
        counters.passed += 1
        appendOfLog(LogRecordType.passed, Array("{}".utf8), now: now, local: local, actions: &actions)
    }

    /// Goes over to the MAC keys that were introduced to everybody, by an event for each, the last one under the key before it.
    /// Whoever decides does it, sooner or later; two at once are two owners like any others.
    private mutating func introduceKeys(now: Timestamp, local: LocalInstant, actions: inout [LoopAction<Domain>]) {
        while speculative.head.key < authenticator.current, authenticator.holds(speculative.head.key + 1),
            speculative.pending.count < window
        {
            let introduced = MACKeyIntroduced(key: speculative.head.key + 1)
            appendOfLog(LogRecordType.macKeyIntroduced, introduced.data, now: now, local: local, actions: &actions)
            speculative.head.key = introduced.key
        }
    }

    /// Appends an event that says nothing to a domain.
    private mutating func appendOfLog(
        _ type: String, _ data: [UInt8], now: Timestamp, local: LocalInstant, actions: inout [LoopAction<Domain>]
    ) {
        // It must not make the next command be decided at another time than by an owner who did not write it.
        let passed = speculative.inboxes.commands.values.map(\.time).max() ?? now
        let time = speculative.time.milliseconds > 0 ? speculative.time : passed
        _ = append(
            EventBody(type: type, subject: nil, data: data), nil, key: [], time: time, cause: nil, aggregate: nil, local: local,
            actions: &actions)
    }

    // MARK: Starting over

    /// An append failed. Whether its record stands in the log nevertheless, or will, shows when that is read.
    mutating func failed(_ token: AppendToken, at local: LocalInstant) {
        sent[token] = nil
        if token == probe {
            probe = nil
            mayAskAt = local + settings.longestWait
        } else if token.speculation == speculation, !speculative.pending.isEmpty {
            dropSpeculation()
            block(for: settings.longestWait, at: local)
        }
    }

    /// An event that is never read back must not hold up for ever what comes after it. If it comes after all, it ends the next
    /// speculation as any other event does.
    mutating func dropWhatIsLost(at local: LocalInstant) {
        guard let first = speculative.pending.first, first.sent + settings.longestReadingBack <= local else { return }
        dropSpeculation()
    }

    /// Forgets what was decided and not confirmed; its inputs are decided again, in their order.
    mutating func dropSpeculation() {
        if !speculative.pending.isEmpty {
            counters.dropped += 1
            window = 1
        }
        speculation += 1
        if !speculative.decided.isEmpty { open = Queue(speculative.decided.map(\.input) + open) }
        speculative = Speculation(head: chain.head)
        speculative.inboxes = inboxes
        speculative.time = lastTime
        refusals.startOver()
        if case .idle = projection.phase {
        } else {
            if case .loading = projection.phase { projection.isStale = true } else { projection.phase = .idle }
        }
    }

    /// What was decided on the head, or on a pending event that is confirmed by now, can no longer change. (Where the head is
    /// another owner's, the speculation was dropped before.)
    mutating func becomeCertain() {
        while let decided = speculative.decided.first,
            decided.sequence <= chain.head.sequence || mutation == .tellsWhatIsUncertain
        {
            speculative.decided.removeFirst()
            if let refusal = decided.refusal { refusals.becomeCertain(refusal) }
            guard let message = decided.input.message else { continue }
            if case .answer(let answer) = decided.outcome, let replyTo = message.replyTo, let deadline = message.deadline {
                answers.append(
                    EarnedAnswer(
                        sequence: decided.sequence, age: age.elapsed, readAt: decided.input.readAt, replyTo: replyTo,
                        deadline: deadline, answer: answer, causation: message.id,
                        traceParent: message.traceParent))
            }
        }
    }

    mutating func block(for interval: Interval, at local: LocalInstant) {
        blockedUntil = max(blockedUntil, local + interval)
    }
}
