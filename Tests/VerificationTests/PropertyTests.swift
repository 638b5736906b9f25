import EventSchema
import SeededRandom
import Testing
import VerificationDomain

/// What holds whatever anybody does. Each seed is one random history.
@Suite struct PropertyTests {
    static let seeds = 0..<100 as Range<UInt64>
    static let tight = Challenge.Rules(
        lifetime: .minutes(2), attempts: 2, sends: 2, sendWindow: .minutes(7), wrongCodes: 4, wrongCodeWindow: .minutes(9))

    @Test(arguments: seeds) func `the state says what the whole history says`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var history = RandomHistory(rules: seed % 2 == 0 ? Challenge.Rules() : Self.tight)
        for _ in 0..<100 {
            let command = history.command(for: RandomHistory.step(using: &generator, guessing: false))
            let expected = RulesByHistory.decide(command, after: history.events, rules: history.rules)
            let decided = history.perform(command)
            guard decided == expected else {
                Issue.record("after \(history.events.count) events: \(decided), and the history says \(expected)")
                return
            }
        }
    }

    @Test(arguments: seeds) func `no window sees more than its budget`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var history = RandomHistory()
        for _ in 0..<200 {
            let command = history.command(for: RandomHistory.step(using: &generator, guessing: seed % 3 != 0))
            _ = history.perform(command)
        }
        for device in [nil, phone, tablet] {
            let own = history.events.filter { $0.device == device }
            let wrongCodes = own.filter(\.isWrongCode).map(\.time)
            let sends = own.filter { $0.issued != nil }.map(\.time)
            #expect(zip(wrongCodes, wrongCodes.dropFirst(15)).allSatisfy { $1 - $0 >= .hours(1) })
            #expect(zip(sends, sends.dropFirst(5)).allSatisfy { $1 - $0 >= .minutes(15) })
        }
    }

    @Test(arguments: seeds) func `a code is consumed at most once, and only while it is the newest`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var history = RandomHistory()
        for _ in 0..<200 { _ = history.perform(history.command(for: RandomHistory.step(using: &generator, guessing: false))) }
        for device in [nil, phone, tablet] {
            var live: CodeIssued?
            var wrongCodes = 0
            for event in history.events where event.device == device {
                switch event.content {
                case .codeIssued(let issued): (live, wrongCodes) = (issued, 0)
                case .codeMissed:
                    wrongCodes += 1
                    #expect(live != nil && wrongCodes < 3)
                case .codeExhausted:
                    #expect(live != nil && wrongCodes == 2)
                    live = nil
                case .codeConfirmed, .resetTokenIssued, .resetTokenConsumed:
                    #expect(live.map { event.time < $0.expiresAt } == true)
                    live = nil
                }
            }
        }
    }

    @Test(arguments: seeds) func `who guesses cannot tell a decoy`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var real = RandomHistory()
        var decoy = RandomHistory(allDecoys: true)
        var told: [Told] = []
        var toldOfDecoys: [Told] = []
        for _ in 0..<150 {
            let step = RandomHistory.step(using: &generator, guessing: true)
            told.append(Told(real.perform(real.command(for: step))))
            toldOfDecoys.append(Told(decoy.perform(decoy.command(for: step))))
        }
        #expect(told == toldOfDecoys)
    }

    @Test(arguments: seeds) func `what is spent may be forgotten`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let rules = seed % 2 == 0 ? Challenge.Rules() : Self.tight
        var history = RandomHistory(rules: rules)
        var spent = 0
        for _ in 0..<150 {
            let command = history.command(for: RandomHistory.step(using: &generator, guessing: false))
            if !history.events.isEmpty, history.state.isSpent(at: history.now) {
                spent += 1
                let fresh = Given<Challenge>(from: Challenge.State(rules: rules)).when(command)
                #expect(fresh.result == Given<Challenge>(from: history.state).when(command).result)
            }
            _ = history.perform(command)
        }
        #expect(seed % 2 == 0 || spent > 0)
    }

    @Test(arguments: seeds) func `no time is a time that nobody notices`(seed: UInt64) {
        // A state that has forgotten what is too old decides like one that was never told of it.
        var generator = SeededGenerator(seed: seed)
        var history = RandomHistory(rules: Self.tight)
        for _ in 0..<200 { _ = history.perform(history.command(for: RandomHistory.step(using: &generator, guessing: false))) }
        let start = history.now - Self.tight.longestWindow
        let recent = history.events.filter { $0.time > start }
        let command = history.command(
            for: RandomStep(kind: .enterNewest, device: phone, overDailyLimit: false, pause: .zero))
        let late = Given<Challenge>(recent, from: Challenge.State(rules: Self.tight)).when(command)
        #expect(late.result == Given<Challenge>(from: history.state).when(command).result)
    }
}

/// What the one who asked is told.
private enum Told: Equatable {
    case sent, invalid, tooMany, confirmed

    init(_ result: Result<Challenge.Event?, Challenge.Refusal>) {
        switch result {
        case .success(let event?):
            switch event.content {
            case .codeIssued: self = .sent
            case .codeMissed: self = .invalid
            case .codeExhausted: self = .tooMany
            case .codeConfirmed, .resetTokenIssued, .resetTokenConsumed: self = .confirmed
            }
        case .success(nil): self = .sent
        case .failure(.dailySendsUsedUp), .failure(.sendsUsedUp): self = .sent
        case .failure(.noLiveCode), .failure(.unreadableCode), .failure(.unknownResetToken): self = .invalid
        case .failure(.wrongCodesUsedUp): self = .tooMany
        }
    }
}
