public import EventSchema

extension Home {
    public struct State: Equatable, Sendable {
        public var contacts: [Subject: Contact] = [:]
        /// Those that are not erased.
        public var users: [UserID: User] = [:]
        /// Those that are not superseded and did not expire.
        public var onboarding: [OnboardingSessionID: Onboarding] = [:]
        /// Those that did not end.
        public var sessions: [SessionID: Session] = [:]
        /// By the digests of their tokens.
        public var devices: [Digest: Device] = [:]

        public init() {}

        /// The user who has the identifier.
        func account(of subject: Subject) -> (id: UserID, user: User)? {
            guard let id = contacts[subject]?.account, let user = users[id] else { return nil }
            return (id, user)
        }

        /// The session, if it is live and of that user.
        func liveSession(_ id: SessionID, of user: UserID, at now: Timestamp) -> Session? {
            guard let session = sessions[id], session.user == user, session.isLive(at: now) else { return nil }
            return session
        }

        /// In the order in which they started.
        func sessions(of user: UserID) -> [SessionID] {
            sessions.filter { $0.value.user == user }
                .sorted { ($0.value.startedAt, $0.key.text) < ($1.value.startedAt, $1.key.text) }.map(\.key)
        }

        /// In the order in which they were issued.
        func devices(of user: UserID) -> [Digest] {
            devices.filter { $0.value.user == user }
                .sorted { ($0.value.issuedAt, $0.key.base64url) < ($1.value.issuedAt, $1.key.base64url) }.map(\.key)
        }

        func summary(of id: UserID) -> UserSummary? {
            guard let user = users[id] else { return nil }
            let own = contacts.values.filter { $0.account == id }
            return UserSummary(
                user: id, createdAt: user.createdAt,
                emailVerifiedAt: own.compactMap { $0.channel == .email ? $0.verifiedAt : nil }.min(),
                phoneVerifiedAt: own.compactMap { $0.channel == .sms ? $0.verifiedAt : nil }.min(), groups: user.groups)
        }
    }

    /// An address or number.
    public struct Contact: Equatable, Sendable {
        /// Of the account's identifier; `nil` while there is none.
        public var channel: Channel?
        public var account: UserID?
        public var verifiedAt: Timestamp?
        /// A proof that waits for a sign-up.
        public var flag: Flag?
        /// Failed logins, wherever they came from.
        public var failures = LoginBudget()
        public var failuresByAddress: [AddressTag: LoginBudget] = [:]
        /// When its owner was last told that somebody signs up with it.
        public var noticedAt: Timestamp?

        public init() {}
    }

    public struct Flag: Equatable, Sendable {
        /// The `code-confirmed` event, and the command that led to it.
        public var confirmation: MessageID
        public var command: MessageID?
        public var verifiedAt: Timestamp
        /// From then on it is void.
        public var until: Timestamp
        /// Whether the next sign-up without a code consumes it. One that did leaves it to the sign-up whose code it was.
        public var isWaiting: Bool

        public init(
            confirmation: MessageID, command: MessageID? = nil, verifiedAt: Timestamp, until: Timestamp, isWaiting: Bool = true
        ) {
            self.confirmation = confirmation
            self.command = command
            self.verifiedAt = verifiedAt
            self.until = until
            self.isWaiting = isWaiting
        }

        func isLive(at now: Timestamp) -> Bool { verifiedAt <= now && now < until }
    }

    public struct User: Equatable, Sendable {
        public var createdAt: Timestamp
        public var dataKey: DataKeyID
        public var isDisabled = false
        /// Grows with every change of the password.
        public var credentialVersion: Int64 = 0
        /// Whether the password was set together with a code.
        public var isProven: Bool
        public var profileVersion: Int64 = 0
        /// Sorted.
        public var groups: [String]

        public init(createdAt: Timestamp, dataKey: DataKeyID, isProven: Bool, groups: [String] = []) {
            self.createdAt = createdAt
            self.dataKey = dataKey
            self.isProven = isProven
            self.groups = groups
        }
    }

    /// A device of a user.
    public struct Device: Equatable, Sendable {
        public var user: UserID
        public var issuedAt: Timestamp
        public var failures: LoginBudget

        public init(user: UserID, issuedAt: Timestamp, failures: LoginBudget = LoginBudget()) {
            self.user = user
            self.issuedAt = issuedAt
            self.failures = failures
        }

        func isKnown(at now: Timestamp) -> Bool { now < issuedAt + Home.deviceLifetime }
    }

    public struct Onboarding: Equatable, Sendable {
        public var subject: Subject
        public var channel: Channel
        public var startedAt: Timestamp
        public var expiresAt: Timestamp
        public var dataKey: DataKeyID
        public var proof: SignUpProof
        public var verifiedAt: Timestamp?
        public var profileVersion: Int64 = 0
        public var completion: Completion?

        public init(
            subject: Subject, channel: Channel, startedAt: Timestamp, expiresAt: Timestamp, dataKey: DataKeyID,
            proof: SignUpProof,
            verifiedAt: Timestamp? = nil
        ) {
            self.subject = subject
            self.channel = channel
            self.startedAt = startedAt
            self.expiresAt = expiresAt
            self.dataKey = dataKey
            self.proof = proof
            self.verifiedAt = verifiedAt
        }

        func summary(_ id: OnboardingSessionID) -> OnboardingSummary {
            OnboardingSummary(session: id, channel: channel, verifiedAt: verifiedAt, expiresAt: expiresAt)
        }
    }

    public struct Completion: Equatable, Sendable {
        public var at: Timestamp
        public var user: UserID
        public var session: SessionID
        public var successor: SealedBox?

        public init(at: Timestamp, user: UserID, session: SessionID, successor: SealedBox?) {
            self.at = at
            self.user = user
            self.session = session
            self.successor = successor
        }
    }

    public struct Session: Equatable, Sendable {
        public var user: UserID
        public var startedAt: Timestamp
        public var expiresAt: Timestamp
        /// When its refresh token was last exchanged; before that, when it started.
        public var refreshedAt: Timestamp
        public var refresh: Digest
        /// The refresh token before, and what tells the present one to whoever presents that.
        public var previous: Previous?
        /// Wrong passwords in a row.
        public var failedChecks: Int64 = 0

        public init(user: UserID, startedAt: Timestamp, expiresAt: Timestamp, refresh: Digest) {
            self.user = user
            self.startedAt = startedAt
            self.expiresAt = expiresAt
            refreshedAt = startedAt
            self.refresh = refresh
        }

        func isLive(at now: Timestamp) -> Bool { now < expiresAt && now < refreshedAt + Home.idleLifetime }
    }

    public struct Previous: Equatable, Sendable {
        public var refresh: Digest
        public var successor: SealedBox

        public init(refresh: Digest, successor: SealedBox) {
            self.refresh = refresh
            self.successor = successor
        }
    }
}
