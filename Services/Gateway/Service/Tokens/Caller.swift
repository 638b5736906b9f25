public import EventSchema
public import HTTP

/// Who asks with an access token.
public struct Caller: Hashable, Sendable, ContextKey {
    public typealias Value = Caller

    public var user: UserID
    public var session: SessionID
    public var groups: [String]

    public init(user: UserID, session: SessionID, groups: [String] = []) {
        self.user = user
        self.session = session
        self.groups = groups
    }
}

/// The onboarding session that an onboarding token is for.
struct Onboarding: Hashable, Sendable {
    var session: OnboardingSessionID
    /// As it was presented.
    var token: String
}
