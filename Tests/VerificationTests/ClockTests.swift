import EventSchema
import Testing
import VerificationDomain

/// Clocks that were wrong, and what may be forgotten.
@Suite struct ClockTests {
    let ahead = noon + .days(1)

    @Test func `a code from the future is void`() {
        Given<Challenge>(.issued(at: ahead)).when(.enter(right, at: noon)).thenRefused(.noLiveCode)
    }

    @Test func `it stays void once something happened under the right clock`() {
        Given<Challenge>(.issued("111111", at: ahead, device: phone), .issued("222222", at: noon))
            .when(.enter("111111", at: ahead, device: phone)).thenRefused(.noLiveCode)
    }

    @Test func `sends and wrong codes from the future lock nobody out`() {
        let sends = Array(repeating: Challenge.Event.issued(at: ahead), count: 5)
        Given<Challenge>(sends).when(.send(at: noon)).then(.issued(at: noon))
        Given<Challenge>(HourlyBudgetTests.wrongCodes(15, from: ahead) + [.issued(at: noon)], from: HourlyBudgetTests.initial)
            .when(.enter(right, at: noon)).then(.confirmed(at: noon))
    }

    @Test func `a time that stands still changes nothing`() {
        Given<Challenge>(.issued(at: noon)).when(.enter(right, at: noon)).then(.confirmed(at: noon))
    }

    @Test func `an aggregate is spent when its last window has passed`() {
        #expect(Challenge.initial.isSpent(at: noon))
        let sent = Given<Challenge>(.issued(at: noon)).state
        #expect(!sent.isSpent(at: noon + .minutes(15) - .milliseconds(1)))
        #expect(sent.isSpent(at: noon + .minutes(15)))
        let missed = Given<Challenge>(.issued(at: noon), .missed(at: noon + .minutes(1), device: nil)).state
        #expect(!missed.isSpent(at: noon + .minutes(61) - .milliseconds(1)))
        #expect(missed.isSpent(at: noon + .minutes(61)))
    }

    @Test func `a live code keeps it, however long it lives`() {
        let rules = Challenge.Rules(lifetime: .hours(3), sendWindow: .minutes(1))
        let sent = Given<Challenge>(.issued(at: noon, lifetime: .hours(3)), from: Challenge.State(rules: rules)).state
        #expect(!sent.isSpent(at: noon + .hours(3) - .milliseconds(1)))
        #expect(sent.isSpent(at: noon + .hours(3)))
        #expect(rules.longestWindow == .hours(3))
    }

    @Test func `a device keeps it too`() {
        let sent = Given<Challenge>(.issued(at: noon, device: phone)).state
        #expect(!sent.isSpent(at: noon + .minutes(15) - .milliseconds(1)))
        #expect(sent.isSpent(at: noon + .minutes(15)))
    }

    @Test func `what comes from the future keeps it`() {
        #expect(!Given<Challenge>(.issued(at: ahead)).state.isSpent(at: noon))
    }

    @Test func `the longest of the standard windows is an hour`() {
        #expect(Challenge.Rules().longestWindow == .hours(1))
    }
}
