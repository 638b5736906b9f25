import EventSchema
import IdentityDomain
import Testing

@Suite struct ContactTests {
    private let noon = Timestamp(milliseconds: 1_800_000_000_000)
    private let subject = Subject(bytes: [UInt8](repeating: 7, count: 16))!
    private let confirmation = MessageID.random()
    private let user = UserID("00000000-0000-8000-8000-000000000001")!
    private let session = OnboardingSessionID.example()
    private let other = OnboardingSessionID.example()

    private func confirm(at time: Timestamp? = nil, now: Timestamp? = nil) -> Contact.Command {
        .confirm(
            Contact.Confirmation(id: confirmation, subject: subject, channel: .email, confirmedAt: time ?? noon),
            now: now ?? time ?? noon)
    }

    private func verified(
        user: UserID? = nil, sessions: [OnboardingSessionID] = [], flagged: Bool = true
    ) -> IdentityEvent {
        .contactVerified(
            ContactVerified(
                subject: subject, channel: .email, verifiedAt: noon, user: user, sessions: sessions,
                flagUntil: flagged ? noon + .minutes(10) : nil, confirmation: confirmation))
    }

    private func after(_ event: IdentityEvent, _ state: Contact.State) -> Contact.State {
        var state = state
        Contact.evolve(&state, with: event)
        return state
    }

    @Test func `a proof of an unknown address is kept for ten minutes`() {
        let event = Contact.decide(confirm(), given: Contact.initial)
        #expect(event == verified())
        let flag = Contact.Flag(confirmation: confirmation, verifiedAt: noon, until: noon + .minutes(10))
        #expect(after(verified(), Contact.initial) == Contact.State(flag: flag))
    }

    @Test func `the account with the address is stamped, and the proof is kept all the same`() {
        let state = Contact.State(account: .init(user: user))
        #expect(Contact.decide(confirm(), given: state) == verified(user: user))
        #expect(after(verified(user: user), state).account == .init(user: user, verifiedAt: noon))
        #expect(after(verified(user: user), state).flag?.until == noon + .minutes(10))
    }

    @Test func `a stamp that stands is not moved`() {
        let before = noon - .days(3)
        let state = Contact.State(
            account: .init(user: user, verifiedAt: before),
            sessions: [.init(id: session, verifiedAt: before, expiresAt: noon + .hours(1))])
        let after = after(verified(user: user, sessions: [session]), state)
        #expect(after.account?.verifiedAt == before)
        #expect(after.sessions[0].verifiedAt == before)
    }

    @Test func `active sessions are stamped, expired ones are not`() {
        let state = Contact.State(sessions: [
            .init(id: session, expiresAt: noon + .milliseconds(1)), .init(id: other, expiresAt: noon),
        ])
        #expect(Contact.decide(confirm(), given: state) == verified(sessions: [session]))
        let after = after(verified(sessions: [session]), state)
        #expect(after.sessions.map(\.verifiedAt) == [noon, nil])
    }

    @Test func `both sessions that stand for one address are stamped`() {
        let state = Contact.State(sessions: [
            .init(id: session, verifiedAt: noon - .hours(1), expiresAt: noon + .hours(1)),
            .init(id: other, expiresAt: noon + .hours(2)),
        ])
        #expect(Contact.decide(confirm(), given: state) == verified(sessions: [session, other]))
        #expect(after(verified(sessions: [session, other]), state).sessions.map(\.verifiedAt) == [noon - .hours(1), noon])
    }

    @Test func `stamp and flag count from the confirmation, however late it is decided`() {
        #expect(Contact.decide(confirm(at: noon, now: noon + .minutes(9)), given: Contact.initial) == verified())
    }

    @Test func `a confirmation that is decided after its ten minutes leaves no flag`() {
        let late = confirm(at: noon, now: noon + .minutes(10))
        #expect(Contact.decide(late, given: .init(account: .init(user: user))) == verified(user: user, flagged: false))
        let waiting = Contact.Flag(confirmation: .random(), verifiedAt: noon, until: noon + .minutes(15))
        #expect(after(verified(flagged: false), .init(flag: waiting)).flag == waiting)
    }

    @Test func `a newer proof takes the place of the one that waits`() {
        let old = Contact.Flag(confirmation: .random(), verifiedAt: noon - .minutes(5), until: noon + .minutes(5))
        #expect(after(verified(), .init(flag: old)).flag?.confirmation == confirmation)
    }

    @Test func `a stamp of another user than the one who has the address changes nothing`() {
        let state = Contact.State(account: .init(user: UserID("00000000-0000-8000-8000-000000000002")!))
        #expect(after(verified(user: user), state).account == state.account)
    }
}

extension OnboardingSessionID {
    /// One that no other test has.
    static func example() -> OnboardingSessionID { OnboardingSessionID(uuid: MessageID.random().uuid) }
}
