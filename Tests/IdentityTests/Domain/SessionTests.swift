import EventSchema
import IdentityDomain
import Testing

@Suite struct SessionTests {
    private var house = House()
    private let user: UserID
    private let session: SessionID
    private let first: Digest

    init() throws {
        let registered = try house.registered()
        (user, session, first) = (registered.user.user, registered.session.session, registered.session.refresh)
    }

    private mutating func refreshed(_ token: Digest) throws -> Digest {
        guard case .sessionRefreshed(let event) = try house.event(house.refresh(session, token)) else {
            throw House.Unexpected()
        }
        return event.refresh
    }

    private mutating func end(_ reason: SessionEndReason, _ user: UserID?) -> Home.Action {
        .endSession(EndSession(session: session, user: user, reason: reason))
    }

    @Test mutating func `a refresh token is good once, and gives its successor again for half a minute`() throws {
        let second = try refreshed(first)
        house.pass(.seconds(30))
        #expect(try house.event(house.refresh(session, first)) == .refreshRepeated(RefreshRepeated(user: user, session: session)))
        #expect(house.state.sessions[session]?.refresh == second)
        house.pass(.milliseconds(1))
        #expect(
            try house.event(house.refresh(session, first))
                == .sessionsEnded(SessionsEnded(user: user, sessions: [session], reason: .reuse)))
        #expect(house.refusal(house.refresh(session, second)) == .refreshTokenInvalid)
    }

    @Test mutating func `once the successor is used, its predecessor is a copy in wrong hands`() throws {
        let second = try refreshed(first)
        let third = try refreshed(second)
        try house.event(house.refresh(session, first))
        #expect(house.refusal(house.refresh(session, third)) == .refreshTokenInvalid)
    }

    @Test mutating func `a token that is neither the present nor the last one ends the session`() throws {
        guard case .sessionsEnded(let ended) = try house.event(house.refresh(session, house.digest())) else {
            Issue.record("not ended")
            return
        }
        #expect(ended.reason == .reuse)
    }

    @Test mutating func `thirty idle days end a session, and ninety in all`() throws {
        var token = first
        house.pass(.days(30))
        #expect(house.refusal(house.refresh(session, token)) == .refreshTokenInvalid)
        house.pass(.milliseconds(-1))
        for _ in 1...3 {
            token = try refreshed(token)
            house.pass(.days(30) - .milliseconds(1))
        }
        house.now = House.noon + .days(90)
        #expect(house.refusal(house.refresh(session, token)) == .refreshTokenInvalid)
    }

    @Test mutating func `a session that was ended is not refreshed, whatever raced with it`() throws {
        try house.event(end(.logout, user))
        #expect(house.refusal(house.refresh(session, first)) == .refreshTokenInvalid)
        #expect(house.refusal(end(.logout, user)) == .alreadySo)
        #expect(house.refusal(end(.revoked, user)) == .notFound)
    }

    @Test mutating func `only whose session it is ends it, or who holds its refresh token`() throws {
        #expect(house.refusal(end(.revoked, house.user())) == .notFound)
        try house.event(end(.logout, nil))
    }

    @Test mutating func `all sessions of a user end at once`() throws {
        let second = try house.loggedIn()
        try house.registered(House.bob)
        let all = EndAllSessions(user: user, session: session, reason: .logoutAll)
        guard case .sessionsEnded(let ended) = try house.event(.endAllSessions(all)) else { return }
        #expect(Set(ended.sessions) == [session, second.session.session])
        #expect(house.state.sessions.count == 1)
        #expect(house.refusal(.endAllSessions(EndAllSessions(user: user, reason: .logoutAll))) == .alreadySo)
        // Who has ended may not end those that began since.
        try house.loggedIn()
        #expect(house.refusal(.endAllSessions(all)) == .unauthenticated)
    }

    // MARK: Passwords

    @Test mutating func `a changed password ends the other sessions, and what was checked against the old one`() throws {
        let other = try house.loggedIn()
        let before = try #require(house.account())
        guard case .passwordChanged(let changed) = try house.event(house.changePassword(session)) else { return }
        #expect(changed.ended == [other.session.session])
        #expect(changed.account.credentialVersion == 1)
        #expect(house.refusal(house.changePassword(session, account: before)) == .stale)
        #expect(house.refusal(house.finishReset(before)) == .resetTokenInvalid)
        #expect(house.refusal(house.changePassword(other.session.session)) == .unauthenticated)
    }

    @Test mutating func `the fifth wrong password in a row ends the session, for whatever it was given`() throws {
        for count in 1...5 {
            let action = count % 2 == 0 ? house.erase(session, .wrong) : house.changePassword(session, .wrong)
            guard case .passwordCheckFailed(let failed) = try house.event(action) else { return }
            #expect(failed.failures == Int64(count))
            #expect(failed.ended == (count == 5))
        }
        #expect(house.refusal(house.changePassword(session)) == .unauthenticated)
    }

    @Test mutating func `a right password starts the count again`() throws {
        for _ in 1...4 { try house.event(house.changePassword(session, .wrong)) }
        try house.event(house.changePassword(session))
        guard case .passwordCheckFailed(let failed) = try house.event(house.changePassword(session, .wrong)) else { return }
        #expect(failed.failures == 1)
    }

    // MARK: Reset

    @Test mutating func `a reset ends every session, proves the mailbox, and voids what was issued before`() throws {
        let account = try #require(house.account())
        guard case .passwordReset(let reset) = try house.event(house.finishReset(account)) else { return }
        #expect(reset.ended == [session])
        #expect(reset.verifiedAt == House.noon)
        #expect(reset.notice != nil)
        #expect(house.state.contacts[House.alice]?.verifiedAt == House.noon)
        #expect(house.refusal(house.refresh(session, first)) == .refreshTokenInvalid)
        #expect(house.refusal(house.finishReset(account)) == .resetTokenInvalid)
        house.pass(.minutes(1))
        let next = try #require(house.account())
        guard case .passwordReset(let again) = try house.event(house.finishReset(next)) else { return }
        #expect(again.verifiedAt == nil)
    }

    @Test mutating func `the first reset of an unproven credential drops the devices, later ones do not`() throws {
        let device = try #require(house.state.devices.keys.first)
        let unproven = try #require(house.account())
        guard case .passwordReset(let first) = try house.event(house.finishReset(unproven)) else { return }
        #expect(first.droppedDevices == [device])
        try house.loggedIn()
        let proven = try #require(house.account())
        guard case .passwordReset(let second) = try house.event(house.finishReset(proven)) else { return }
        #expect(second.droppedDevices == [])
    }

    @Test mutating func `a credential proven by a code keeps its devices`() throws {
        let code = try house.confirm(House.bob)
        let bob = try house.registered(House.bob, confirmation: code)
        let account = AccountReference(user: bob.user.user, credentialVersion: 0)
        guard
            case .passwordReset(let reset) = try house.event(
                .finishReset(FinishReset(subject: House.bob, account: account, passwordHash: .example())))
        else { return }
        #expect(reset.droppedDevices == [])
    }

    @Test mutating func `a reset without an account, or without a password that can be read, is refused`() throws {
        let account = try #require(house.account())
        #expect(house.refusal(house.finishReset(account, hash: false)) == .resetTokenInvalid)
        try house.event(.disable(DisableUser(user: user)))
        #expect(house.refusal(house.finishReset(account)) == .resetTokenInvalid)
        try house.event(.enable(EnableUser(user: user)))
        let again = try house.loggedIn()
        try house.event(house.erase(again.session.session))
        let next = try house.registered()
        #expect(next.user.user != user)
        #expect(house.refusal(house.finishReset(account)) == .resetTokenInvalid)
    }

    // MARK: Erasure

    @Test mutating func `an erased user is gone, and the identifier is free again`() throws {
        try house.confirm()
        for _ in 1...3 { try house.failed() }
        guard case .userErased(let erased) = try house.event(house.erase(session)) else { return }
        #expect(erased.subjects == [House.alice])
        #expect(erased.ended == [session])
        #expect(house.state.users.isEmpty && house.state.devices.isEmpty && house.state.sessions.isEmpty)
        // The flag is void, the budget of failed logins stands.
        #expect(house.state.contacts[House.alice]?.flag == nil)
        #expect(house.state.contacts[House.alice]?.failures.failures == 3)
        #expect(try house.registered().user.emailVerifiedAt == nil)
    }

    // MARK: Profiles

    @Test mutating func `a profile is put in the place of the one that it was made from alone`() throws {
        let user = user
        func update(_ version: Int64) -> Home.Action {
            .updateProfile(UpdateProfile(target: .user(user), profile: .example(), profileVersion: version))
        }
        guard case .profileUpdated(let updated) = try house.event(update(0)) else { return }
        #expect(updated.version == 1)
        #expect(updated.user?.user == user)
        #expect(house.refusal(update(0)) == .stale)
        #expect(house.refusal(house.logIn()) == nil)
    }

    @Test mutating func `a session of a completed or unknown onboarding has no profile to change`() throws {
        let started = try house.onboarding(House.bob)
        func update(_ id: OnboardingSessionID) -> Home.Action {
            .updateProfile(UpdateProfile(target: .onboarding(id), profile: .example(), profileVersion: 0))
        }
        guard case .profileUpdated(let updated) = try house.event(update(started.session)) else { return }
        #expect(updated.onboarding?.session == started.session)
        #expect(house.refusal(update(OnboardingSessionID(uuid: MessageID.random().uuid))) == .unauthenticated)
        try house.event(house.complete(started.session, profileVersion: 1))
        #expect(house.refusal(update(started.session)) == .onboardingCompleted)
    }
}
