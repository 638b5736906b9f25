public import EventSchema

/// What became of a command.
public enum CommandOutcome: Hashable, Sendable {
    /// It led to an event, which earns this.
    case committed(CommandAnswer)
    /// Of this code (`Decision.refusal`).
    case refused(String)
    /// It was dropped because its budget was over; only this very record, told by its fingerprint, stays dropped.
    case expired([UInt8])

    init(_ refused: RefusedCommand) {
        self = refused.code.map { .refused($0) } ?? .expired(refused.fingerprint)
    }

    /// Whether what is learnt later may take its place: what led to an event led to it for good.
    public var isFinal: Bool { if case .committed = self { true } else { false } }
}

/// What a command earns that led to an event.
public enum CommandAnswer: Hashable, Sendable {
    case own(Answer)
    /// Another service tells it.
    case elsewhere(Answer)
    case none
}

/// What an event says of a command that may come again.
public struct RememberedCommand: Hashable, Sendable {
    public var id: MessageID
    public var outcome: CommandOutcome
    /// For how long, from the event's append.
    public var remember: Interval
}

extension PartitionDomain {
    func commandAnswer(to event: Event?) -> CommandAnswer {
        guard let event else { return .none }
        if let answer = answer(to: event) { return .own(answer) }
        return answerElsewhere(to: event).map(CommandAnswer.elsewhere) ?? .none
    }

    /// The commands whose outcome an event tells: the one that led to it, and those that it says were refused.
    public func commands(rememberedBy event: Event?, _ envelope: EventEnvelope) -> [RememberedCommand] {
        var commands = envelope.refused.map {
            RememberedCommand(id: $0.id, outcome: CommandOutcome($0), remember: min($0.remember, .longestMemory))
        }
        if let causation = envelope.causation, envelope.remember > .zero {
            commands.append(
                RememberedCommand(
                    id: causation, outcome: .committed(commandAnswer(to: event)), remember: min(envelope.remember, .longestMemory)
                ))
        }
        return commands
    }
}

extension Interval {
    /// Longer than this no command may come again, whatever it says of itself.
    static let longestMemory = Interval.hours(24)
}

/// The outcomes of recent commands, so that a command that comes again is answered again and never decided again. Folded
/// from valid events, so all owners remember the same.
struct CommandMemory: Sendable {
    private var outcomes: [MessageID: (outcome: CommandOutcome, minute: Int64)] = [:]
    /// Ids by the minute after which they are forgotten.
    private var minutes: [Int64: [MessageID]] = [:]
    private var oldest: Int64 = .max

    subscript(_ id: MessageID) -> CommandOutcome? { outcomes[id]?.outcome }

    var count: Int { outcomes.count }

    /// Keeps an outcome at least until the chain is of this age.
    mutating func remember(_ id: MessageID, _ outcome: CommandOutcome, until: Interval) {
        if outcomes[id]?.outcome.isFinal == true { return }
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
