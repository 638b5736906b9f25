public import EventSchema

/// Everything that Identity knows behind one routing key: identifiers, their users, sessions and onboarding sessions. (Nearly
/// always that is one identifier; two whose pseudonyms begin alike share a home and do not notice.)
///
/// Source: DESIGN, section 5, and part 1 of the HTTP contract. What a session, a token or an id is called is drawn before the
/// decision and comes in with the command.
public enum Home: Decider {
    public typealias Command = Timed<Action>
    public typealias Event = Timed<IdentityEvent>

    /// What is asked for.
    public enum Action: Equatable, Sendable {
        /// The right code for an identifier was entered.
        case confirm(Confirmation)
        case startOnboarding(StartOnboarding, session: OnboardingSessionID)
        case complete(CompleteOnboarding, user: UserID, SignIn)
        case register(Register, user: UserID, SignIn)
        case logIn(LogIn, SignIn)
        /// `next` is drawn for the case that the token is good, `successor` is what tells it to whoever presents the token again.
        case refresh(RefreshSession, next: Digest, successor: SealedBox)
        case endSession(EndSession)
        case endAllSessions(EndAllSessions)
        case changePassword(ChangePassword)
        case erase(EraseUser)
        case updateProfile(UpdateProfile)
        case finishReset(FinishReset)
        case disable(DisableUser)
        case enable(EnableUser)
        case setGroups(SetGroups)
        case importUser(ImportUser, user: UserID)
        /// Ends onboarding sessions whose time is over.
        case expireOnboarding(Subject)
    }

    public struct Timed<Content: Equatable & Sendable>: Equatable, Sendable {
        public var content: Content
        /// The time of the decision.
        public var time: Timestamp

        public init(_ content: Content, at time: Timestamp) {
            self.content = content
            self.time = time
        }
    }

    public struct Confirmation: Equatable, Sendable {
        /// The `code-confirmed` event.
        public var id: MessageID
        /// The command that led to it.
        public var command: MessageID?
        public var subject: Subject
        public var channel: Channel
        /// When the code was entered, by the log's clock. A stamp says this time, however late it is set.
        public var confirmedAt: Timestamp

        public init(id: MessageID, command: MessageID? = nil, subject: Subject, channel: Channel, confirmedAt: Timestamp) {
            self.id = id
            self.command = command
            self.subject = subject
            self.channel = channel
            self.confirmedAt = confirmedAt
        }
    }

    /// What was drawn for a sign-in, used or not.
    public struct SignIn: Equatable, Sendable {
        public var session: SessionID
        /// Of the refresh token.
        public var refresh: Digest
        /// Of the device token, should none of the account be presented.
        public var device: Digest
        /// The tokens, for whoever completes the same onboarding session again.
        public var successor: SealedBox?

        public init(session: SessionID, refresh: Digest, device: Digest, successor: SealedBox? = nil) {
            self.session = session
            self.refresh = refresh
            self.device = device
            self.successor = successor
        }
    }

    /// Nothing happened.
    public enum Refusal: Error, Hashable, Sendable {
        /// What was asked for is so already.
        case alreadySo
        /// What the command was checked against has changed since.
        case stale
        case accountExists
        /// The confirmation that the sign-up names is unknown, used or over.
        case confirmationUnknown
        /// An account is made of proven identifiers alone here.
        case proofRequired
        /// The session that asks is over, or never was.
        case unauthenticated
        case onboardingCompleted
        /// Logins are blocked, for whole seconds from 1.
        case blocked(seconds: Int)
        case refreshTokenInvalid
        case resetTokenInvalid
        case notFound
    }

    public static var initial: State { State() }

    public static func decide(_ command: Command, given state: State) throws(Refusal) -> Event? {
        let now = command.time
        let event: IdentityEvent =
            switch command.content {
            case .confirm(let confirmation): state.confirm(confirmation, at: now)
            case .startOnboarding(let request, let session): try state.startOnboarding(request, session, at: now)
            case .complete(let request, let user, let signIn): try state.complete(request, user, signIn, at: now)
            case .register(let request, let user, let signIn): try state.register(request, user, signIn, at: now)
            case .logIn(let request, let signIn): try state.logIn(request, signIn, at: now)
            case .refresh(let request, let next, let successor): try state.refresh(request, next, successor, at: now)
            case .endSession(let request): try state.endSession(request, at: now)
            case .endAllSessions(let request): try state.endAllSessions(request, at: now)
            case .changePassword(let request): try state.changePassword(request, at: now)
            case .erase(let request): try state.erase(request, at: now)
            case .updateProfile(let request): try state.updateProfile(request, at: now)
            case .finishReset(let request): try state.finishReset(request, at: now)
            case .disable(let request): try state.disable(request, at: now)
            case .enable(let request): try state.enable(request)
            case .setGroups(let request): try state.setGroups(request)
            case .importUser(let request, let user): try state.importUser(request, user, at: now)
            case .expireOnboarding(let subject): try state.expireOnboarding(of: subject, at: now)
            }
        return Timed(event, at: now)
    }
}
