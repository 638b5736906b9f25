import EventSchema
import Testing
import VerificationDomain

/// At most fifteen wrong codes an hour, over all codes.
@Suite struct HourlyBudgetTests {
    /// Sends are not what is tested here.
    static let initial = Challenge.State(rules: Challenge.Rules(sends: 1_000))

    /// Codes that were sent a minute apart from `start`, each with three wrong ones, until there were `count` of those.
    static func wrongCodes(_ count: Int, from start: Timestamp = noon) -> [Challenge.Event] {
        var events: [Challenge.Event] = []
        for index in 0..<count {
            let now = start + .minutes(Int64(index / 3))
            if index % 3 == 0 { events.append(.issued(at: now)) }
            events.append(index % 3 == 2 ? .exhausted(at: now) : .missed(at: now))
        }
        return events
    }

    @Test(arguments: 0..<20) func `fifteen wrong codes use the hour up`(count: Int) {
        let now = noon + .minutes(20)
        let given = Given<Challenge>(Self.wrongCodes(min(count, 15)) + [.issued("555555", at: now)], from: Self.initial)
        if count < 15 {
            given.when(.enter(wrong, at: now)).then(.missed(at: now))
            given.when(.enter("555555", at: now)).then(.confirmed(at: now))
        } else {
            given.when(.enter(wrong, at: now)).thenRefused(.wrongCodesUsedUp)
            given.when(.enter("555555", at: now)).thenRefused(.wrongCodesUsedUp)
        }
    }

    @Test func `the fifteenth wrong code is told like any other`() {
        let now = noon + .minutes(10)
        Given<Challenge>(Self.wrongCodes(14) + [.issued(at: now)], from: Self.initial)
            .when(.enter(wrong, at: now)).then(.missed(at: now))
            .when(.enter(wrong, at: now)).thenRefused(.wrongCodesUsedUp)
        Given<Challenge>(Self.wrongCodes(14), from: Self.initial)
            .when(.enter(wrong, at: noon + .minutes(4))).then(.exhausted(at: noon + .minutes(4)))
    }

    @Test func `without a live code it is told like any other`() {
        Given<Challenge>(Self.wrongCodes(15), from: Self.initial)
            .when(.enter(wrong, at: noon + .minutes(4))).thenRefused(.noLiveCode)
            .when(.enter(right, at: noon + .minutes(4))).thenRefused(.noLiveCode)
    }

    @Test func `the live code is good again once a wrong one is an hour old`() {
        let late = noon + .hours(1) - .seconds(10)
        Given<Challenge>(Self.wrongCodes(15) + [.issued("555555", at: late)], from: Self.initial)
            .when(.enter("555555", at: noon + .hours(1) - .milliseconds(1))).thenRefused(.wrongCodesUsedUp)
            .when(.enter("555555", at: noon + .hours(1))).then(.confirmed(at: noon + .hours(1)))
    }

    @Test func `wrong codes leave the hour one by one`() {
        let hour = noon + .hours(1)
        // The first three were entered at noon.
        Given<Challenge>(Self.wrongCodes(15) + [.issued(at: hour - .seconds(1)), .issued(at: hour)], from: Self.initial)
            .when(.enter(wrong, at: hour)).then(.missed(at: hour))
            .when(.enter(wrong, at: hour)).then(.missed(at: hour))
            .when(.enter(wrong, at: hour)).then(.exhausted(at: hour))
            .when(.send(at: hour)).then(.issued(at: hour))
            .when(.enter(right, at: hour)).thenRefused(.wrongCodesUsedUp)
            .when(.enter(right, at: hour + .seconds(59))).thenRefused(.wrongCodesUsedUp)
            .when(.enter(right, at: hour + .minutes(1))).then(.confirmed(at: hour + .minutes(1)))
    }

    @Test func `a confirmed code does not clear the budget`() {
        let now = noon + .minutes(20)
        Given<Challenge>(Self.wrongCodes(14) + [.issued(at: now), .confirmed(at: now), .issued(at: now)], from: Self.initial)
            .when(.enter(wrong, at: now)).then(.missed(at: now))
            .when(.enter(right, at: now)).thenRefused(.wrongCodesUsedUp)
    }

    @Test func `codes without a live one do not count`() {
        var given = Given<Challenge>(from: Self.initial)
        for _ in 0..<30 { given = given.when(.enter(wrong, at: noon)).thenRefused(.noLiveCode) }
        given.when(.send(at: noon)).then(.issued(at: noon)).when(.enter(right, at: noon)).then(.confirmed(at: noon))
    }

    @Test(arguments: 1...8, 1...4) func `budget and attempts are settings`(budget: Int, attempts: Int) {
        let rules = Challenge.Rules(attempts: attempts, sends: 1_000, wrongCodes: budget)
        var given = Given<Challenge>(from: Challenge.State(rules: rules))
        for index in 0..<budget {
            if index % attempts == 0 { given = given.when(.send(at: noon)).then(.issued(at: noon)) }
            let outcome = given.when(.enter(wrong, at: noon))
            given = outcome.then(index % attempts == attempts - 1 ? .exhausted(at: noon) : .missed(at: noon))
        }
        given.when(.send(at: noon)).then(.issued(at: noon)).when(.enter(right, at: noon)).thenRefused(.wrongCodesUsedUp)
    }
}
