import EventSchema
import Testing
import VerificationDomain

@Suite struct SendTests {
    @Test func `the first send issues a code for five minutes`() {
        Given<Challenge>().when(.send(at: noon)).then(.issued(at: noon, lifetime: .minutes(5)))
    }

    @Test func `what the notifier needs is passed on`() throws {
        let request = IssueCode.sample(purpose: .passwordReset, locale: LanguageTag("de-AT"), account: account, device: phone)
        Given<Challenge>().when(.issue(request, drawn(right), at: noon)).then(
            Challenge.Event(
                .codeIssued(
                    CodeIssued(
                        subject: ada, purpose: .passwordReset, channel: .email, digest: drawn(right).digest, salt: salt(right),
                        expiresAt: noon + .minutes(5), recipient: box(1), code: box(2), locale: LanguageTag("de-AT"),
                        account: account,
                        device: phone)), at: noon))
    }

    @Test func `a decoy carries neither code nor recipient`() {
        Given<Challenge>().when(.send(at: noon, decoy: true)).then(.issued(at: noon, decoy: true))
    }

    @Test(arguments: [false, true], [nil, phone])
    func `a command over the daily limit sends nothing`(decoy: Bool, device: Digest?) {
        Given<Challenge>().when(.send(at: noon, overDailyLimit: true, decoy: decoy, device: device))
            .thenRefused(.dailySendsUsedUp)
    }

    @Test(arguments: 0..<10) func `five sends within fifteen minutes, and no sixth`(count: Int) {
        let sent = (0..<min(count, 5)).map { Challenge.Event.issued(at: noon + .seconds(Int64($0))) }
        let outcome = Given<Challenge>(sent).when(.send(at: noon + .minutes(10)))
        if count < 5 {
            outcome.then(.issued(at: noon + .minutes(10)))
        } else {
            outcome.thenRefused(.sendsUsedUp)
        }
    }

    /// Milliseconds since the first of five sends at once; whether the sixth is allowed.
    @Test(
        arguments: [
            (0, false), (1, false), (60_000, false), (899_999, false), (900_000, true), (900_001, true), (86_400_000, true),
        ] as [(Int64, Bool)])
    func `the window of sends slides`(age: Int64, allowed: Bool) {
        let now = noon + .milliseconds(age)
        let outcome = Given<Challenge>(Array(repeating: .issued(at: noon), count: 5)).when(.send(at: now))
        if allowed { outcome.then(.issued(at: now)) } else { outcome.thenRefused(.sendsUsedUp) }
    }

    @Test func `each send leaves the window by itself`() {
        // One send a minute: from the sixteenth minute on, one place is free each minute.
        let sent = (0..<5).map { Challenge.Event.issued(at: noon + .minutes(Int64($0))) }
        Given<Challenge>(sent)
            .when(.send(at: noon + .minutes(14))).thenRefused(.sendsUsedUp)
            .when(.send(at: noon + .minutes(15))).then(.issued(at: noon + .minutes(15)))
            .when(.send(at: noon + .minutes(15))).thenRefused(.sendsUsedUp)
            .when(.send(at: noon + .minutes(16))).then(.issued(at: noon + .minutes(16)))
    }

    @Test func `a refused send is not counted`() {
        var given = Given<Challenge>(Array(repeating: .issued(at: noon), count: 5))
        for minute in 1..<15 { given = given.when(.send(at: noon + .minutes(Int64(minute)))).thenRefused(.sendsUsedUp) }
        for second in 0..<5 {
            let now = noon + .minutes(15) + .seconds(Int64(second))
            given = given.when(.send(at: now)).then(.issued(at: now))
        }
    }

    @Test func `a refused send leaves the code as it is`() {
        Given<Challenge>(Array(repeating: .issued(at: noon), count: 5))
            .when(.send("999999", at: noon + .minutes(1))).thenRefused(.sendsUsedUp)
            .when(.enter(right, at: noon + .minutes(1))).then(.confirmed(at: noon + .minutes(1)))
    }

    @Test func `a decoy's sends count like others`() {
        Given<Challenge>(Array(repeating: .issued(at: noon, decoy: true), count: 5))
            .when(.send(at: noon + .minutes(1), decoy: true)).thenRefused(.sendsUsedUp)
            .when(.send(at: noon + .minutes(1), decoy: false)).thenRefused(.sendsUsedUp)
    }

    @Test func `wrong codes do not hinder sends`() {
        let many = Challenge.State(rules: Challenge.Rules(sends: 50))
        let events = (0..<5).flatMap { round in
            let now = noon + .seconds(Int64(round))
            return [Challenge.Event.issued(at: now), .missed(at: now), .missed(at: now), .exhausted(at: now)]
        }
        Given<Challenge>(events, from: many).when(.send(at: noon + .minutes(1))).then(.issued(at: noon + .minutes(1)))
    }

    @Test(arguments: 1...12) func `the number of sends is a setting`(limit: Int) {
        var given = Given<Challenge>(from: Challenge.State(rules: Challenge.Rules(sends: limit)))
        for _ in 0..<limit { given = given.when(.send(at: noon)).then(.issued(at: noon)) }
        given.when(.send(at: noon)).thenRefused(.sendsUsedUp)
    }

    @Test(arguments: [1, 30, 60, 3_600] as [Int64]) func `lifetime and window are settings`(seconds: Int64) {
        let rules = Challenge.Rules(lifetime: .seconds(seconds), sends: 1, sendWindow: .seconds(seconds))
        let end = noon + .seconds(seconds)
        Given<Challenge>(from: Challenge.State(rules: rules))
            .when(.send(at: noon)).then(.issued(at: noon, lifetime: .seconds(seconds)))
            .when(.send(at: end - .milliseconds(1))).thenRefused(.sendsUsedUp)
            .when(.enter(right, at: end)).thenRefused(.noLiveCode)
            .when(.send(at: end)).then(.issued(at: end, lifetime: .seconds(seconds)))
    }
}
