internal import EventSchema
internal import IdentityDomain

/// What some events change in the rows of homes, gathered by the statements that do it. No two of the events are of one home.
struct HomeChanges: Sendable {
    /// Where and when an event happened.
    struct Place: Hashable, Sendable {
        var home: RoutingKey
        var partition: Int
        var time: Timestamp
    }

    /// One row, and where it belongs.
    struct At<Row: Sendable>: Sendable {
        var place: Place
        var row: Row
    }

    struct NewUser: Sendable {
        var user: UserSummary
        var subject: Subject
        var channel: Channel
        var proven: Bool
        var disabled: Bool
        /// `nil`: that of the onboarding session.
        var data: PersonalData?
        var completed: OnboardingSessionID?
    }

    struct Completion: Sendable {
        var id: OnboardingSessionID
        var user: UserID
        var session: SessionID
        var successor: SealedBox?
    }

    struct OnboardingEnd: Sendable {
        var id: OnboardingSessionID
        var status: String
    }

    struct NewSession: Sendable {
        var user: UserID
        var session: StartedSession
    }

    struct Failures: Sendable {
        var subject: Subject
        /// `nil`: from wherever they come.
        var address: AddressTag?
        var failed: FailedLogins
    }

    struct DeviceFailures: Sendable {
        var device: Digest
        /// `nil`: forgotten.
        var failed: FailedLogins?
    }

    struct Password: Sendable {
        var user: UserID
        var hash: Ciphertext
        /// `nil`: as before, because the password is the same.
        var version: Int64?
        var proves: Bool
    }

    struct Profile<ID: Sendable>: Sendable {
        var id: ID
        var profile: Ciphertext
        var version: Int64
    }

    struct Stamp<ID: Sendable>: Sendable {
        var id: ID
        var verifiedAt: Timestamp
    }

    var identifierStamps: [At<Stamp<Subject>>] = []
    var onboardingStamps: [At<Stamp<OnboardingSessionID>>] = []
    var flags: [At<ContactVerified>] = []
    var usedFlags: [At<Subject>] = []
    var droppedFlags: [At<Subject>] = []

    var onboardingEnds: [At<OnboardingEnd>] = []
    var onboarding: [At<OnboardingStarted>] = []
    var notices: [At<Subject>] = []
    var users: [At<NewUser>] = []
    var completions: [At<Completion>] = []

    var ended: [At<SessionID>] = []
    var sessions: [At<NewSession>] = []
    var refreshes: [At<SessionRefreshed>] = []
    var failedChecks: [At<(session: SessionID, failures: Int64)>] = []
    var droppedDevices: [At<Digest>] = []
    var devices: [At<(user: UserID, device: Digest)>] = []
    var deviceFailures: [At<DeviceFailures>] = []
    /// All devices of these users forget.
    var forgivenUsers: [At<UserID>] = []
    var failures: [At<Failures>] = []
    var forgivenSubjects: [At<Subject>] = []

    var passwords: [At<Password>] = []
    var userProfiles: [At<Profile<UserID>>] = []
    var onboardingProfiles: [At<Profile<OnboardingSessionID>>] = []
    var groups: [At<GroupsChanged>] = []
    var statuses: [At<(user: UserID, disabled: Bool)>] = []
    var erased: [At<UserID>] = []
    var freed: [At<Subject>] = []
}
