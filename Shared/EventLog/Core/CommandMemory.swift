internal import EventSchema

/// What a command earns that led to an event.
enum CommandAnswer: Sendable {
    case own(Answer)
    /// Another service tells it.
    case elsewhere(Answer)
    case none
}

extension PartitionDomain {
    func commandAnswer(to event: Event?) -> CommandAnswer {
        guard let event else { return .none }
        if let answer = answer(to: event) { return .own(answer) }
        return answerElsewhere(to: event).map(CommandAnswer.elsewhere) ?? .none
    }
}

/// The outcomes of recent commands, so that a command that comes again is answered again and never decided again. Folded
/// from valid events, so all owners remember the same.
struct CommandMemory: Sendable {
    enum Outcome: Sendable {
        /// Led to the event with this sequence, which earns this answer.
        case committed(Int64, CommandAnswer)
        case refused(String)
        /// Was dropped because its budget was over; only this very record, told by its fingerprint, stays dropped.
        case expired([UInt8])

        init(_ refused: RefusedCommand) {
            self = refused.code.map { .refused($0) } ?? .expired(refused.fingerprint)
        }
    }

    private var outcomes: [MessageID: (outcome: Outcome, minute: Int64)] = [:]
    /// Ids by the minute after which they are forgotten.
    private var minutes: [Int64: [MessageID]] = [:]
    private var oldest: Int64 = .max

    subscript(_ id: MessageID) -> Outcome? { outcomes[id]?.outcome }

    var count: Int { outcomes.count }

    /// Keeps an outcome at least until the chain is of this age. What led to an event is never overwritten.
    mutating func remember(_ id: MessageID, _ outcome: Outcome, until: Interval) {
        if case .committed = outcomes[id]?.outcome { return }
        let minute = until.milliseconds / 60_000 + 1
        outcomes[id] = (outcome, minute)
        minutes[minute, default: []].append(id)
        oldest = min(oldest, minute)
    }

    mutating func forget(before now: Interval) {
        let current = now.milliseconds / 60_000
        guard oldest < current else { return }
        for minute in minutes.keys where minute < current {
            for id in minutes.removeValue(forKey: minute) ?? [] where outcomes[id]?.minute == minute { outcomes[id] = nil }
        }
        oldest = minutes.keys.min() ?? .max
    }
}
