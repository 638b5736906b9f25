import EventLogSimulated
import EventSchema

@testable import EventLog

/// Holds what is in the log, and what was told, against the rules: by deciding everything again, in order, with nothing but
/// the valid events.
struct Audit<Load: Workload> {
    enum Outcome {
        case committed(sequence: Int64, answer: Answer?)
        /// Named by an event; a refusal that was never named, nor told, may still be decided otherwise.
        case refused(Answer?, isNamed: Bool)
        case expired(fingerprint: [UInt8])
    }

    let world: World<Load>
    private let domain: Load.Domain
    private(set) var aggregates: [Load.Domain.Key: Load.Domain.Aggregate] = [:]
    private var outcomes: [MessageID: Outcome] = [:]
    private var inboxes = InboxPositions()
    private var lastTime = Timestamp(milliseconds: 0)
    private var records: [TopicPartition: ArraySlice<Record>] = [:]
    private var begins: [TopicPartition: Int64] = [:]

    init(world: World<Load>) {
        self.world = world
        domain = world.load.domain
        for partition in [world.commands, world.upstream].compactMap({ $0 }) {
            let begin = world.broker.contents.bounds(of: partition).lowerBound
            begins[partition] = begin
            records[partition] = world.broker.contents.records(of: partition, from: begin)
        }
    }

    func outcome(of command: MessageID) -> Outcome? { outcomes[command] }

    /// Everything that holds at any time.
    mutating func check() {
        for event in world.events.events { check(event.envelope) }
        checkTold()
    }

    // MARK: One event

    private mutating func check(_ event: EventEnvelope) {
        let decided = passInboxes(to: event)
        let time = expectedTime(decided?.time)
        if let decided {
            check(event, follows: decided, at: time)
        } else if event.body.type == LogRecordType.repeated {
            checkRepeated(event)
        } else if ![LogRecordType.passed, LogRecordType.macKeyIntroduced].contains(event.body.type) {
            checkSubmission(event)
        }
        if event.time < lastTime, lastTime - event.time <= .minutes(2) { violate(event, "runs back in time") }
        if event.time < lastTime, !world.isProjected {
            for key in aggregates.keys {
                guard var aggregate = aggregates[key] else { continue }
                domain.forgetFuture(&aggregate, after: event.time)
                aggregates[key] = aggregate
            }
        }
        if let decoded = try? domain.decode(event.body) {
            let key = domain.key(of: decoded)
            var aggregate = aggregates[key] ?? domain.initial
            domain.evolve(&aggregate, with: decoded, at: event.time)
            aggregates[key] = aggregate
            if let causation = event.causation, decided?.isCommand == true {
                if case .committed(let before, _) = outcomes[causation] {
                    violate(event, "is the second one of command \(causation), after \(before)")
                }
                if case .refused(_, isNamed: true) = outcomes[causation] {
                    violate(event, "follows from command \(causation), which was refused")
                }
                outcomes[causation] = .committed(sequence: event.sequence, answer: domain.answer(to: decoded))
            }
        } else if ![LogRecordType.passed, LogRecordType.repeated, LogRecordType.macKeyIntroduced].contains(event.body.type) {
            violate(event, "cannot be read")
        }
        lastTime = event.time
        inboxes = event.inboxes
    }

    /// The append time of the input, unless that runs back a little.
    private func expectedTime(_ appended: Timestamp?) -> Timestamp? {
        appended.map { lastTime > $0 && lastTime - $0 <= .minutes(2) ? lastTime : $0 }
    }

    private func violate(_ event: EventEnvelope, _ text: String) {
        world.violate("event \(event.sequence) at \(event.offset) by \(event.writer) \(text)")
    }

    /// The event must be what its input leads to, on the state that the valid events before it give.
    private func check(_ event: EventEnvelope, follows message: InboxMessage, at time: Timestamp?) {
        if let time, event.time != time {
            violate(event, "was decided at \(event.time.milliseconds) and should have been at \(time.milliseconds)")
        }
        guard event.replyTo == message.replyTo, event.deadline == message.deadline else {
            return violate(event, "answers somebody else than its command asks for")
        }
        if case .expired(let fingerprint) = outcomes[message.id], message.isCommand, fingerprint == message.fingerprint {
            violate(event, "follows from a record that was dropped as too late")
        }
        let place = InputBook<Load.Domain.Input>.Place(partition: message.partition, offset: message.offset)
        let isRight = world.book.inputs(at: place, by: event.writer).contains { input in
            let aggregate = aggregates[domain.key(of: input)] ?? domain.initial
            guard case .event(let again) = domain.decide(input, at: event.time, given: aggregate) else { return false }
            return domain.encode(again) == event.body
        }
        if !isRight { violate(event, "is not what its command leads to on the state before it") }
    }

    /// What another service is asked to tell once more is what a command has earned there that came again.
    private func checkRepeated(_ event: EventEnvelope) {
        guard let commands = world.commands,
            let copy = record(of: commands, at: event.inboxes.offset(of: commands.topic) - 1).flatMap(message(of:)),
            case .committed(let sequence, _) = outcomes[copy.id],
            let earlier = try? domain.decode(world.events.events[Int(sequence) - 1].envelope.body)
        else { return violate(event, "repeats the answer to nothing") }
        if domain.answerElsewhere(to: earlier)?.data != event.body.data || event.replyTo != copy.replyTo {
            violate(event, "repeats another answer than event \(sequence) earns")
        }
    }

    private func checkSubmission(_ event: EventEnvelope) {
        let isRight = world.submissions.contains { input in
            let aggregate = aggregates[domain.key(of: input)] ?? domain.initial
            guard case .event(let again) = domain.decide(input, at: event.time, given: aggregate) else { return false }
            return domain.encode(again) == event.body
        }
        if !isRight { violate(event, "follows from nothing") }
    }

    // MARK: What was passed

    /// Looks at every input between the last event and this one. Returns the one that the event follows from.
    private mutating func passInboxes(to event: EventEnvelope) -> InboxMessage? {
        var decided: InboxMessage?
        if let commands = world.commands {
            let end = event.inboxes.offset(of: commands.topic)
            let start = inboxes.offset(of: commands.topic)
            if end < start { violate(event, "has read less of \(commands) than the one before it") }
            for offset in start..<max(start, end) {
                guard let record = record(of: commands, at: offset) else {
                    if begins[commands, default: 0] <= offset {
                        violate(event, "has read a command that does not exist, \(offset)")
                    }
                    continue
                }
                guard case .authentic = world.authenticator.verify(record), let message = message(of: record) else {
                    continue
                }
                if offset == end - 1, message.id == event.causation {
                    decided = message
                } else {
                    pass(message, for: event)
                }
            }
        }
        if let upstream = world.upstream, let chain = world.upstreamEvents {
            let end = event.inboxes.offset(of: upstream.topic)
            let start = inboxes.offset(of: upstream.topic)
            if end < start { violate(event, "has read less of \(upstream) than the one before it") }
            for offset in start..<max(start, end) {
                guard let index = chain.byOffset[offset] else { continue }
                let message = InboxMessage(event: chain.events[index].envelope).awaited(atMost: world.settings.longestBudget)
                if offset == end - 1, decided == nil, message.id == event.causation {
                    decided = message
                } else {
                    pass(message, for: event)
                }
            }
        }
        if let causation = event.causation, decided == nil {
            violate(event, "follows from \(causation), which is not where it says")
        }
        return decided
    }

    private func record(of partition: TopicPartition, at offset: Int64) -> Record? {
        guard let all = records[partition], let begin = begins[partition], offset >= begin, offset < begin + Int64(all.count)
        else { return nil }
        return all[all.startIndex + Int(offset - begin)]
    }

    /// A command as the loop reads it.
    private func message(of command: Record) -> InboxMessage? {
        InboxMessage(command: command)?.awaited(atMost: world.settings.longestBudget)
    }

    /// An input that led to no event must have had a reason.
    private mutating func pass(_ message: InboxMessage, for event: EventEnvelope) {
        if message.isCommand {
            switch outcomes[message.id] {
            case .committed, .refused: return
            case .expired(let fingerprint) where fingerprint == message.fingerprint: return
            case .expired, nil: break
            }
        }
        let outcome = decideAgain(message, by: event.writer)
        let named = event.refused.last { $0.id == message.id && $0.fingerprint == message.fingerprint }
        if message.isCommand, let named, named.code == nil {
            checkExpired(message, event)
            outcomes[message.id] = .expired(fingerprint: message.fingerprint)
            return
        }
        switch outcome {
        case .nothing:
            if named != nil { violate(event, "refuses \(message.id), which asks for nothing") }
        case .refused(let code):
            guard message.isCommand else { return }
            if let named, named.code != code { violate(event, "refuses \(message.id) as \(named.code ?? ""), which is \(code)") }
            outcomes[message.id] = .refused(domain.answer(forRefusal: code), isNamed: named != nil)
        case .event:
            if let named, !comesAgain(message, before: event) {
                violate(event, "refuses \(message.id) as \(named.code ?? ""), which is an event")
            }
            if message.isCommand {
                checkExpired(message, event)
            } else {
                violate(event, "passes \(message.id), which is an event")
            }
        }
    }

    /// Whether what the event says of a record may be said of a later copy of it.
    private func comesAgain(_ message: InboxMessage, before event: EventEnvelope) -> Bool {
        guard let commands = world.commands else { return false }
        return (message.offset + 1..<max(message.offset + 1, event.inboxes.offset(of: commands.topic))).contains { offset in
            guard let copy = record(of: commands, at: offset).flatMap(message(of:)) else { return false }
            return copy.id == message.id && copy.fingerprint == message.fingerprint
        }
    }

    private func checkExpired(_ message: InboxMessage, _ event: EventEnvelope) {
        guard !world.hasJumped else { return }
        guard let deadline = message.deadline, event.appended.milliseconds >= deadline.milliseconds - 2 else {
            return violate(event, "passes command \(message.id) at \(message.offset) before its budget is over")
        }
    }

    private enum Again {
        case nothing
        case refused(String)
        case event
    }

    private func decideAgain(_ message: InboxMessage, by writer: String) -> Again {
        let place = InputBook<Load.Domain.Input>.Place(partition: message.partition, offset: message.offset)
        guard let input = world.book.inputs(at: place, by: writer).first, let time = expectedTime(message.time) else {
            return .nothing
        }
        switch domain.decide(input, at: time, given: aggregates[domain.key(of: input)] ?? domain.initial) {
        case .event: return .event
        case .refusal(let code): return .refused(code)
        case .nothing: return .nothing
        }
    }

    // MARK: What was told

    /// What was told must be what the log says, and must not have been told before the log said it.
    private mutating func checkTold() {
        passRest()
        for told in world.told {
            switch outcomes[told.command] {
            case .committed(let sequence, let answer):
                if answer?.data != told.data {
                    world.violate("\(told.process) told command \(told.command) something else than its event \(sequence) says")
                }
                if world.isProjected, told.projected < sequence {
                    world.violate("\(told.process) answered command \(told.command) before its event \(sequence) was projected")
                }
                if told.validEvents < sequence {
                    world.violate("\(told.process) answered command \(told.command) before its event \(sequence) was in the log")
                }
            case .refused(let answer, _):
                if answer?.data != told.data {
                    world.violate("\(told.process) told command \(told.command) something else than its refusal says")
                }
            case .expired: world.violate("\(told.process) answered command \(told.command), which was dropped as too late")
            case nil:
                if !isAnswer(to: told.command, told.data) {
                    world.violate("\(told.process) answered command \(told.command), of which the log knows nothing")
                }
            }
        }
    }

    /// Commands behind the last event: nothing but refusals may have been told of them.
    private mutating func passRest() {
        guard let commands = world.commands else { return }
        let end = begins[commands, default: 0] + Int64(records[commands]?.count ?? 0)
        let start = inboxes.offset(of: commands.topic)
        for offset in start..<max(start, end) {
            guard let record = record(of: commands, at: offset), case .authentic = world.authenticator.verify(record),
                let message = message(of: record)
            else { continue }
            switch outcomes[message.id] {
            case .committed, .refused: continue
            case .expired(let fingerprint) where fingerprint == message.fingerprint: continue
            case .expired, nil: break
            }
            if case .refused(let code) = decideAgain(message, by: "") {
                outcomes[message.id] = .refused(domain.answer(forRefusal: code), isNamed: false)
            }
        }
    }

    /// Events of the service upstream are answered, too.
    private func isAnswer(to id: MessageID, _ data: [UInt8]) -> Bool {
        world.events.events.contains { $0.envelope.causation == id && world.answer(to: $0.envelope)?.data == data }
    }
}
