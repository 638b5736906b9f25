public import EventSchema

/// What Identity knows of one address or number, and the rules for what proves that it is somebody's.
///
/// Source: DESIGN, section 5, and `confirm` in the HTTP contract.
public enum Contact: Decider {
    /// How long a proof waits for the onboarding session that consumes it.
    public static let flagLifetime = Interval.minutes(10)

    public struct State: Equatable, Sendable {
        /// The user who has the identifier.
        public var account: Account?
        /// Onboarding sessions with the identifier that are neither completed nor superseded.
        public var sessions: [Session]
        /// A proof that waits for the next session.
        public var flag: Flag?

        public init(account: Account? = nil, sessions: [Session] = [], flag: Flag? = nil) {
            self.account = account
            self.sessions = sessions
            self.flag = flag
        }
    }

    public struct Account: Equatable, Sendable {
        public var user: UserID
        public var verifiedAt: Timestamp?

        public init(user: UserID, verifiedAt: Timestamp? = nil) {
            self.user = user
            self.verifiedAt = verifiedAt
        }
    }

    public struct Session: Equatable, Sendable {
        public var id: OnboardingSessionID
        public var verifiedAt: Timestamp?
        public var expiresAt: Timestamp

        public init(id: OnboardingSessionID, verifiedAt: Timestamp? = nil, expiresAt: Timestamp) {
            self.id = id
            self.verifiedAt = verifiedAt
            self.expiresAt = expiresAt
        }
    }

    public struct Flag: Equatable, Sendable {
        /// The confirmation that it keeps.
        public var confirmation: MessageID
        public var verifiedAt: Timestamp
        /// From then on it is void.
        public var until: Timestamp

        public init(confirmation: MessageID, verifiedAt: Timestamp, until: Timestamp) {
            self.confirmation = confirmation
            self.verifiedAt = verifiedAt
            self.until = until
        }
    }

    public enum Command: Equatable, Sendable {
        /// The right code for the identifier was entered.
        case confirm(Confirmation, now: Timestamp)
    }

    public struct Confirmation: Equatable, Sendable {
        /// The `code-confirmed` event.
        public var id: MessageID
        public var subject: Subject
        public var channel: Channel
        /// When the code was entered, by the log's clock. A stamp says this time, however late it is set.
        public var confirmedAt: Timestamp

        public init(id: MessageID, subject: Subject, channel: Channel, confirmedAt: Timestamp) {
            self.id = id
            self.subject = subject
            self.channel = channel
            self.confirmedAt = confirmedAt
        }
    }

    public static let initial = State()

    /// Nothing can be wrong with a proof: whom it concerns is all that there is to decide.
    ///
    /// The flag is kept whether or not there is an account or a session already: an identifier that has an account must not
    /// behave otherwise than one that has none.
    public static func decide(_ command: Command, given state: State) throws(Never) -> IdentityEvent? {
        switch command {
        case .confirm(let confirmation, let now):
            let until = confirmation.confirmedAt + flagLifetime
            return .contactVerified(
                ContactVerified(
                    subject: confirmation.subject, channel: confirmation.channel, verifiedAt: confirmation.confirmedAt,
                    user: state.account?.user, sessions: state.sessions.filter { $0.expiresAt > now }.map(\.id),
                    flagUntil: until > now ? until : nil, confirmation: confirmation.id))
        }
    }

    public static func evolve(_ state: inout State, with event: IdentityEvent) {
        if case .contactVerified(let verified) = event {
            if let user = verified.user, state.account?.user == user, state.account?.verifiedAt == nil {
                state.account?.verifiedAt = verified.verifiedAt
            }
            for index in state.sessions.indices
            where state.sessions[index].verifiedAt == nil && verified.sessions.contains(state.sessions[index].id) {
                state.sessions[index].verifiedAt = verified.verifiedAt
            }
            if let until = verified.flagUntil {
                state.flag = Flag(confirmation: verified.confirmation, verifiedAt: verified.verifiedAt, until: until)
            }
        }
    }
}
