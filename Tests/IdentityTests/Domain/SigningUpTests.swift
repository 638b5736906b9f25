import EventSchema
import IdentityDomain
import Testing

@Suite struct SigningUpTests {
    private var house = House()

    // MARK: Onboarding sessions

    @Test mutating func `a session lives for a day`() throws {
        let session = try house.onboarding()
        #expect(session.expiresAt == House.noon + .hours(24))
        house.pass(.hours(24) - .milliseconds(1))
        #expect(house.refusal(house.complete(session.session)) == nil)
        house.pass(.milliseconds(1))
        #expect(house.refusal(house.complete(session.session)) == .unauthenticated)
    }

    @Test mutating func `a new session supersedes an unverified one`() throws {
        let old = try house.onboarding()
        let new = try house.onboarding()
        #expect(new.superseded == [old.session])
        #expect(house.refusal(house.complete(old.session)) == .unauthenticated)
        #expect(house.refusal(house.complete(new.session)) == nil)
    }

    @Test mutating func `a stranger's session does not end a verified one: the first to complete wins`() throws {
        let mine = try house.onboarding()
        try house.confirm()
        let strange = try house.onboarding()
        #expect(strange.superseded == [])
        try house.event(house.complete(mine.session))
        #expect(house.refusal(house.complete(strange.session)) == .accountExists)
    }

    @Test mutating func `a session made with a code supersedes verified ones`() throws {
        let old = try house.onboarding()
        let code = try house.confirm()
        let new = try house.onboarding(confirmation: code)
        #expect(new.superseded == [old.session])
        #expect(new.proof == .code)
        #expect(new.verifiedAt == House.noon)
    }

    @Test mutating func `a flag is consumed once`() throws {
        try house.confirm()
        #expect(try house.onboarding().proof == .flag)
        #expect(try house.onboarding(House.alice).proof == .none)
    }

    @Test mutating func `who waits for a flag cannot take the proof of whose code it was`() throws {
        let code = try house.confirm()
        #expect(try house.onboarding().proof == .flag)
        #expect(try house.onboarding(confirmation: code).proof == .code)
        // But a code is good for one sign-up.
        #expect(house.refusal(house.startOnboarding(confirmation: code)) == .confirmationUnknown)
    }

    @Test mutating func `a sign-up that names another confirmation than the one that stands is refused`() throws {
        #expect(house.refusal(house.startOnboarding(confirmation: house.messageID())) == .confirmationUnknown)
        let old = try house.confirm()
        try house.confirm()
        #expect(house.refusal(house.register(confirmation: old)) == .confirmationUnknown)
    }

    @Test mutating func `an identifier with an account is told, code or not`() throws {
        try house.registered()
        #expect(house.refusal(house.startOnboarding()) == .accountExists)
        #expect(house.refusal(house.register()) == .accountExists)
        let code = try house.confirm()
        #expect(house.refusal(house.startOnboarding(confirmation: code)) == .accountExists)
        #expect(house.refusal(house.startOnboarding(confirmation: code, proofRequired: true)) == .accountExists)
    }

    @Test mutating func `where a proof is required, the owner is told instead, at most once an hour`() throws {
        try house.registered()
        func notice(_ event: IdentityEvent) -> Bool {
            if case .onboardingStarted(let started) = event { started.notice != nil } else { false }
        }
        #expect(notice(try house.event(house.startOnboarding(proofRequired: true))))
        #expect(!notice(try house.event(house.startOnboarding(proofRequired: true))))
        house.pass(.hours(1))
        #expect(notice(try house.event(house.startOnboarding(proofRequired: true))))
        #expect(!notice(try house.event(house.startOnboarding(House.bob, proofRequired: true))))
    }

    @Test mutating func `where a proof is required, an unverified session is not completed, account or not`() throws {
        let free = try house.onboarding(House.bob)
        #expect(house.refusal(house.complete(free.session, proofRequired: true)) == .proofRequired)
        try house.registered()
        guard case .onboardingStarted(let taken) = try house.event(house.startOnboarding(proofRequired: true)) else { return }
        #expect(house.refusal(house.complete(taken.session, proofRequired: true)) == .proofRequired)
        try house.confirm()
        #expect(house.refusal(house.complete(taken.session, proofRequired: true)) == .accountExists)
    }

    // MARK: Completing

    @Test mutating func `completing makes a user and a session`() throws {
        let session = try house.onboarding()
        guard case .userRegistered(let registered) = try house.event(house.complete(session.session)) else { return }
        #expect(registered.completed == session.session)
        #expect(registered.data == nil)
        #expect(!registered.proven)
        let user = house.state.users[registered.user.user]
        #expect(user?.dataKey == House.personal.dataKey)
        #expect(house.state.contacts[House.alice]?.account == registered.user.user)
        #expect(house.state.sessions[registered.session.session]?.expiresAt == House.noon + .days(90))
        #expect(house.state.devices[registered.session.device]?.user == registered.user.user)
    }

    @Test(arguments: [(true, true), (false, false)])
    mutating func `a credential is proven by a code of the same request alone`(code: Bool, proven: Bool) throws {
        let confirmation = try house.confirm()
        let session = try house.onboarding(confirmation: code ? confirmation : nil)
        guard case .userRegistered(let registered) = try house.event(house.complete(session.session)) else { return }
        #expect(registered.proven == proven)
        #expect(registered.user.emailVerifiedAt == House.noon)
    }

    @Test mutating func `a proof between sign-up and completion stamps the user`() throws {
        let session = try house.onboarding()
        house.pass(.minutes(3))
        try house.confirm()
        guard case .userRegistered(let registered) = try house.event(house.complete(session.session)) else { return }
        #expect(registered.user.emailVerifiedAt == House.noon + .minutes(3))
        #expect(!registered.proven)
    }

    @Test mutating func `a completion that comes again within a minute gives the same session`() throws {
        let session = try house.onboarding()
        guard case .userRegistered(let first) = try house.event(house.complete(session.session)) else { return }
        house.pass(.seconds(60))
        guard case .completionRepeated(let again) = try house.event(house.complete(session.session)) else { return }
        #expect(again.session == first.session.session)
        #expect(again.user == first.user)
        house.pass(.milliseconds(1))
        #expect(house.refusal(house.complete(session.session)) == .onboardingCompleted)
    }

    @Test mutating func `not once its refresh token was used, nor its session ended`() throws {
        let session = try house.onboarding()
        guard case .userRegistered(let first) = try house.event(house.complete(session.session)) else { return }
        var other = house
        try other.event(other.refresh(first.session.session, first.session.refresh))
        #expect(other.refusal(other.complete(session.session)) == .onboardingCompleted)
        try house.event(
            .endSession(EndSession(session: first.session.session, user: first.user.user, reason: .logout)))
        #expect(house.refusal(house.complete(session.session)) == .onboardingCompleted)
    }

    @Test mutating func `a profile that changed meanwhile is read again first`() throws {
        let session = try house.onboarding()
        try house.event(
            .updateProfile(
                UpdateProfile(target: .onboarding(session.session), profile: .example(), profileVersion: 0)))
        #expect(house.refusal(house.complete(session.session, profileVersion: 0)) == .stale)
        try house.event(house.complete(session.session, profileVersion: 1))
        #expect(house.state.users.values.first?.profileVersion == 1)
        #expect(house.refusal(house.complete(session.session, profileVersion: 0)) == .stale)
    }

    @Test mutating func `an unknown session is nobody's`() {
        #expect(house.refusal(house.complete(OnboardingSessionID(uuid: MessageID.random().uuid))) == .unauthenticated)
    }

    // MARK: Registering

    @Test mutating func `registering consumes a flag, or the code of its own`() throws {
        try house.confirm()
        let flagged = try house.registered()
        #expect(flagged.user.emailVerifiedAt == House.noon)
        #expect(!flagged.proven)
        let code = try house.confirm(House.bob)
        let proven = try house.registered(House.bob, confirmation: code)
        #expect(proven.proven)
        #expect(house.state.contacts[House.bob]?.flag == nil)
    }

    // MARK: Expiry

    @Test mutating func `what is over expires, and nothing else`() throws {
        try house.onboarding()
        try house.confirm()
        house.pass(.hours(12))
        let young = try house.onboarding()
        #expect(house.refusal(.expireOnboarding(House.alice)) == .alreadySo)
        house.pass(.hours(12))
        try house.event(.expireOnboarding(House.alice))
        #expect(Array(house.state.onboarding.keys) == [young.session])
        try house.event(house.complete(young.session))
        house.pass(.days(2))
        #expect(house.refusal(.expireOnboarding(House.alice)) == .alreadySo)
    }
}
