public import EventSchema

/// What an access token says of its holder.
public struct AccessClaims: Hashable, Sendable {
    public var user: UserID
    public var session: SessionID
    /// When the session started.
    public var authenticatedAt: Timestamp
    public var groups: [String]
    public var issuedAt: Timestamp

    public init(user: UserID, session: SessionID, authenticatedAt: Timestamp, groups: [String], issuedAt: Timestamp) {
        self.user = user
        self.session = session
        self.authenticatedAt = authenticatedAt
        self.groups = groups
        self.issuedAt = issuedAt
    }
}

/// Signs tokens. Called on the loop's thread: it neither blocks nor fails, which is why nothing is decided before the signing
/// keys are there.
public protocol TokenMinting: Sendable {
    /// How long an access token is good.
    var accessLifetime: Interval { get }

    /// A JWT of the type `at+jwt`.
    func accessToken(_ claims: AccessClaims) -> String

    /// A JWT of the type `onboarding+jwt`, good for one onboarding session until it expires.
    func onboardingToken(_ session: OnboardingSessionID, issuedAt: Timestamp, expiresAt: Timestamp) -> String
}
