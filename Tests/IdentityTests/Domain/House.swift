import Crypto
import EventSchema
import IdentityDomain
import Testing

/// One home, a clock, and the commands that tests need often: given what happened so far, when something is asked for, then an
/// event or a refusal.
struct House {
    private(set) var state = Home.initial
    var now = House.noon
    private var drawn: UInt64 = 0

    static let noon = Timestamp(milliseconds: 1_800_000_000_000)
    static let alice = Subject(bytes: [1, 2, 3, 4, 5, 6] + [UInt8](repeating: 7, count: 10))!
    static let bob = Subject(bytes: [1, 2, 3, 4, 5, 6] + [UInt8](repeating: 8, count: 10))!
    static let office = AddressTag(bytes: [UInt8](repeating: 1, count: 8))!
    static let cafe = AddressTag(bytes: [UInt8](repeating: 2, count: 8))!
    static let personal = PersonalData.example()

    // MARK: What happens

    /// The event, which has happened then.
    @discardableResult
    mutating func event(_ action: Home.Action, sourceLocation: SourceLocation = #_sourceLocation) throws -> IdentityEvent {
        let decided = Result { () throws(Home.Refusal) in try Home.decide(Home.Timed(action, at: now), given: state) }
        guard case .success(let event?) = decided else {
            Issue.record("no event but \(decided)", sourceLocation: sourceLocation)
            throw Unexpected()
        }
        Home.evolve(&state, with: event)
        return event.content
    }

    func refusal(_ action: Home.Action) -> Home.Refusal? {
        do throws(Home.Refusal) {
            _ = try Home.decide(Home.Timed(action, at: now), given: state)
            return nil
        } catch {
            return error
        }
    }

    mutating func pass(_ interval: Interval) { now = now + interval }

    struct Unexpected: Error {}

    // MARK: What is asked for

    private mutating func bytes(_ count: Int) -> [UInt8] {
        drawn += 1
        return Array(SHA256.hash(Array("\(drawn)".utf8)).prefix(count))
    }

    mutating func digest() -> Digest { Digest(bytes: bytes(32))! }
    mutating func messageID() -> MessageID { MessageID(digest: bytes(16)) }
    mutating func user() -> UserID { UserID(bytes: messageID().bytes)! }

    mutating func signIn(successor: Bool = false) -> Home.SignIn {
        Home.SignIn(
            session: SessionID(uuid: messageID().uuid), refresh: digest(), device: digest(),
            successor: successor ? .example() : nil)
    }

    /// Confirms a code for the identifier; returns the command that did.
    @discardableResult
    mutating func confirm(_ subject: Subject = alice, at time: Timestamp? = nil) throws -> MessageID {
        let command = messageID()
        try event(
            .confirm(
                Home.Confirmation(
                    id: messageID(), command: command, subject: subject, channel: .email, confirmedAt: time ?? now)))
        return command
    }

    mutating func startOnboarding(
        _ subject: Subject = alice, confirmation: MessageID? = nil, proofRequired: Bool = false
    ) -> Home.Action {
        .startOnboarding(
            StartOnboarding(
                subject: subject, channel: .email, data: Self.personal, confirmation: confirmation,
                proofRequired: proofRequired, notice: Notice(recipient: .example())),
            session: OnboardingSessionID(uuid: messageID().uuid))
    }

    @discardableResult
    mutating func onboarding(_ subject: Subject = alice, confirmation: MessageID? = nil) throws -> OnboardingStarted {
        guard case .onboardingStarted(let started) = try event(startOnboarding(subject, confirmation: confirmation)) else {
            throw Unexpected()
        }
        return started
    }

    mutating func complete(
        _ session: OnboardingSessionID, proofRequired: Bool = false, profileVersion: Int64 = 0
    ) -> Home.Action {
        .complete(
            CompleteOnboarding(
                session: session, token: .example(), digest: digest(), proofRequired: proofRequired,
                profileVersion: profileVersion), user: user(), signIn(successor: true))
    }

    mutating func register(_ subject: Subject = alice, confirmation: MessageID? = nil) -> Home.Action {
        .register(
            Register(subject: subject, channel: .email, data: Self.personal, confirmation: confirmation), user: user(), signIn())
    }

    /// A user who has just registered.
    @discardableResult
    mutating func registered(_ subject: Subject = alice, confirmation: MessageID? = nil) throws -> UserRegistered {
        guard case .userRegistered(let registered) = try event(register(subject, confirmation: confirmation)) else {
            throw Unexpected()
        }
        return registered
    }

    /// The account of the identifier as it is now.
    func account(_ subject: Subject = alice) -> AccountReference? {
        guard let user = state.contacts[subject]?.account, let version = state.users[user]?.credentialVersion else { return nil }
        return AccountReference(user: user, credentialVersion: version)
    }

    mutating func logIn(
        _ verdict: PasswordVerdict = .right, _ subject: Subject = alice, from address: AddressTag = office, device: Digest? = nil,
        account: AccountReference?? = nil
    ) -> Home.Action {
        let checked = account ?? self.account(subject)
        return .logIn(
            LogIn(
                subject: subject, account: checked, verdict: verdict, address: address, device: device,
                profileVersion: checked.flatMap { state.users[$0.user]?.profileVersion } ?? 0), signIn())
    }

    @discardableResult
    mutating func loggedIn(device: Digest? = nil) throws -> SessionStarted {
        guard case .sessionStarted(let started) = try event(logIn(device: device)) else { throw Unexpected() }
        return started
    }

    @discardableResult
    mutating func failed(
        _ subject: Subject = alice, from address: AddressTag = office, device: Digest? = nil
    ) throws -> LoginFailed {
        guard case .loginFailed(let failed) = try event(logIn(.wrong, subject, from: address, device: device)) else {
            throw Unexpected()
        }
        return failed
    }

    mutating func refresh(_ session: SessionID, _ presented: Digest) -> Home.Action {
        .refresh(
            RefreshSession(session: session, token: .example(), digest: presented), next: digest(), successor: .example())
    }

    func changePassword(_ session: SessionID, _ verdict: PasswordVerdict = .right, account: AccountReference? = nil)
        -> Home.Action
    {
        .changePassword(
            ChangePassword(
                account: account ?? self.account()!, session: session, verdict: verdict, passwordHash: .example()))
    }

    func erase(_ session: SessionID, _ verdict: PasswordVerdict = .right) -> Home.Action {
        .erase(EraseUser(account: account()!, session: session, verdict: verdict))
    }

    func finishReset(_ account: AccountReference, hash: Bool = true) -> Home.Action {
        .finishReset(
            FinishReset(
                subject: Self.alice, account: account, passwordHash: hash ? .example() : nil,
                notice: Notice(recipient: .example())))
    }
}
