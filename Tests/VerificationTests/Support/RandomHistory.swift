import EventSchema
import SeededRandom
import VerificationDomain

/// What somebody does to one challenge.
struct RandomStep {
    enum Kind { case send, enterNewest, enterOlder, enterWrong, unreadable }

    var kind: Kind
    var device: Digest?
    var overDailyLimit: Bool
    /// Since the step before.
    var pause: Interval
}

/// Runs random steps against the rules, and keeps everything that happened.
struct RandomHistory {
    let rules: Challenge.Rules
    let allDecoys: Bool
    private(set) var state: Challenge.State
    private(set) var events: [Challenge.Event] = []
    private(set) var now = noon
    /// The codes that were issued, by the device that they were issued to.
    private(set) var codes: [Digest?: [String]] = [:]
    private var drawnCodes = 0

    init(rules: Challenge.Rules = Challenge.Rules(), allDecoys: Bool = false) {
        self.rules = rules
        self.allDecoys = allDecoys
        state = Challenge.State(rules: rules)
    }

    static func step(using generator: inout SeededGenerator, guessing: Bool) -> RandomStep {
        let kinds: [RandomStep.Kind] =
            guessing
            ? [.send, .enterWrong, .enterWrong, .enterWrong, .enterWrong, .unreadable]
            : [.send, .send, .enterNewest, .enterOlder, .enterWrong, .enterWrong, .unreadable]
        let pauses: [ClosedRange<Int64>] = [0...0, 0...1_000, 0...60_000, 0...300_000, 300_000...300_000, 0...1_200_000]
        return RandomStep(
            kind: kinds.randomElement(using: &generator)!,
            device: [nil, nil, phone, tablet].randomElement(using: &generator)!,
            overDailyLimit: Int.random(in: 0..<20, using: &generator) == 0,
            pause: .milliseconds(Int64.random(in: pauses.randomElement(using: &generator)!, using: &generator)))
    }

    mutating func command(for step: RandomStep) -> Challenge.Command {
        now = now + step.pause
        switch step.kind {
        case .send:
            drawnCodes += 1
            return .send(
                "code \(drawnCodes)", at: now, overDailyLimit: step.overDailyLimit, decoy: allDecoys, device: step.device)
        case .enterNewest: return .enter(codes[step.device]?.last ?? wrong, at: now, device: step.device)
        case .enterOlder: return .enter(codes[step.device]?.dropLast().last ?? wrong, at: now, device: step.device)
        case .enterWrong: return .enter(wrong, at: now, device: step.device)
        case .unreadable: return .enterUnreadable(at: now)
        }
    }

    /// The outcome by the rules, which is applied.
    mutating func perform(_ command: Challenge.Command) -> Result<Challenge.Event?, Challenge.Refusal> {
        let decided = Given<Challenge>(from: state).when(command)
        if case .success(let event?) = decided.result {
            events.append(event)
            Challenge.evolve(&state, with: event)
            if case .codeIssued(let issued) = event.content { codes[issued.device, default: []].append("code \(drawnCodes)") }
        }
        return decided.result
    }
}

extension Challenge.Event {
    /// The device in whose budgets the event counts.
    var device: Digest? {
        switch content {
        case .codeIssued(let issued): issued.device
        case .codeMissed(let missed): missed.device
        case .codeExhausted(let exhausted): exhausted.device
        case .codeConfirmed(let confirmed): confirmed.device
        case .resetTokenIssued(let issued): issued.device
        case .resetTokenConsumed: nil
        }
    }

    var isWrongCode: Bool {
        switch content {
        case .codeMissed, .codeExhausted: true
        case .codeIssued, .codeConfirmed, .resetTokenIssued, .resetTokenConsumed: false
        }
    }

    var issued: CodeIssued? { if case .codeIssued(let issued) = content { issued } else { nil } }
}
