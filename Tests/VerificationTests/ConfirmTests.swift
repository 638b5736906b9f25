import EventSchema
import Testing
import VerificationDomain

@Suite struct ConfirmTests {
    @Test func `the right code is confirmed`() {
        Given<Challenge>(.issued(at: noon)).when(.enter(right, at: noon + .seconds(9))).then(.confirmed(at: noon + .seconds(9)))
    }

    @Test func `a code is confirmed once`() {
        Given<Challenge>(.issued(at: noon), .confirmed(at: noon)).when(.enter(right, at: noon)).thenRefused(.noLiveCode)
    }

    @Test func `of many confirmations one succeeds`() {
        var given = Given<Challenge>(.issued(at: noon)).when(.enter(right, at: noon)).then(.confirmed(at: noon))
        for _ in 0..<49 { given = given.when(.enter(right, at: noon)).thenRefused(.noLiveCode) }
    }

    @Test(arguments: [right, wrong]) func `where nothing was sent a code costs nothing`(code: String) {
        var given = Given<Challenge>()
        for second in 0..<Int64(40) { given = given.when(.enter(code, at: noon + .seconds(second))).thenRefused(.noLiveCode) }
        #expect(given.state == Challenge.initial)
    }

    /// Milliseconds since the code was issued; whether it is good.
    @Test(
        arguments: [(0, true), (1, true), (299_999, true), (300_000, false), (300_001, false), (86_400_000, false)]
            as [(Int64, Bool)])
    func `a code is good for five minutes`(age: Int64, good: Bool) {
        let now = noon + .milliseconds(age)
        let outcome = Given<Challenge>(.issued(at: noon)).when(.enter(right, at: now))
        if good { outcome.then(.confirmed(at: now)) } else { outcome.thenRefused(.noLiveCode) }
    }

    @Test(arguments: [299_999, 300_000] as [Int64]) func `a wrong code counts only while one is live`(age: Int64) {
        let now = noon + .milliseconds(age)
        let outcome = Given<Challenge>(.issued(at: noon)).when(.enter(wrong, at: now))
        if age < 300_000 { outcome.then(.missed(at: now)) } else { outcome.thenRefused(.noLiveCode) }
    }

    @Test func `the third wrong code takes the code away`() {
        Given<Challenge>(.issued(at: noon))
            .when(.enter(wrong, at: noon)).then(.missed(at: noon))
            .when(.enter(wrong, at: noon)).then(.missed(at: noon))
            .when(.enter(wrong, at: noon)).then(.exhausted(at: noon))
            .when(.enter(right, at: noon)).thenRefused(.noLiveCode)
            .when(.enter(wrong, at: noon)).thenRefused(.noLiveCode)
    }

    @Test(arguments: 0..<3) func `fewer than three wrong codes leave the right one good`(count: Int) {
        Given<Challenge>([.issued(at: noon)] + Array(repeating: .missed(at: noon), count: count))
            .when(.enter(right, at: noon)).then(.confirmed(at: noon))
    }

    @Test func `a new code replaces the old one`() {
        Given<Challenge>(.issued("111111", at: noon), .issued("222222", at: noon + .seconds(1)))
            .when(.enter("111111", at: noon + .seconds(2))).then(.missed(at: noon + .seconds(2)))
            .when(.enter("222222", at: noon + .seconds(3))).then(.confirmed(at: noon + .seconds(3)))
    }

    @Test func `a new code has three attempts of its own`() {
        Given<Challenge>(.issued(at: noon), .missed(at: noon), .missed(at: noon), .issued(at: noon))
            .when(.enter(wrong, at: noon)).then(.missed(at: noon))
            .when(.enter(wrong, at: noon)).then(.missed(at: noon))
            .when(.enter(wrong, at: noon)).then(.exhausted(at: noon))
    }

    @Test func `a new code lives five minutes from its own time`() {
        Given<Challenge>(.issued(at: noon), .issued(at: noon + .minutes(4)))
            .when(.enter(right, at: noon + .minutes(8))).then(.confirmed(at: noon + .minutes(8)))
    }

    @Test func `after the code was taken away a new one can be sent`() {
        Given<Challenge>(.issued(at: noon), .missed(at: noon), .missed(at: noon), .exhausted(at: noon))
            .when(.send("777777", at: noon)).then(.issued("777777", at: noon))
            .when(.enter("777777", at: noon)).then(.confirmed(at: noon))
    }

    @Test func `the same code drawn twice has two digests`() {
        let first = DrawnCode(hmac: hmac(right), salt: salt("a"), code: box(1))
        let second = DrawnCode(hmac: hmac(right), salt: salt("b"), code: box(1))
        #expect(first.digest != second.digest)
        #expect(first.digest != hmac(right))
    }

    @Test func `a code that cannot be read is like an expired one, and costs nothing`() {
        var given = Given<Challenge>(.issued(at: noon))
        for _ in 0..<20 { given = given.when(.enterUnreadable(at: noon)).thenRefused(.unreadableCode) }
        given.when(.enter(right, at: noon)).then(.confirmed(at: noon))
    }

    @Test(arguments: 1...9) func `the number of attempts is a setting`(limit: Int) {
        var given = Given<Challenge>(.issued(at: noon), from: Challenge.State(rules: Challenge.Rules(attempts: limit)))
        for _ in 1..<limit { given = given.when(.enter(wrong, at: noon)).then(.missed(at: noon)) }
        given.when(.enter(wrong, at: noon)).then(.exhausted(at: noon)).when(.enter(right, at: noon)).thenRefused(.noLiveCode)
    }

    @Test func `a decoy never matches and counts like a real code`() {
        Given<Challenge>(.issued(at: noon, decoy: true))
            .when(.enter(right, at: noon)).then(.missed(at: noon))
            .when(.enter(wrong, at: noon)).then(.missed(at: noon))
            .when(.enter(right, at: noon)).then(.exhausted(at: noon))
            .when(.enter(right, at: noon)).thenRefused(.noLiveCode)
    }

    @Test func `a decoy replaces a real code and the other way round`() {
        Given<Challenge>(.issued(at: noon), .issued(at: noon, decoy: true)).when(.enter(right, at: noon)).then(.missed(at: noon))
        Given<Challenge>(.issued(at: noon, decoy: true), .issued(at: noon)).when(.enter(right, at: noon)).then(
            .confirmed(at: noon))
    }
}
