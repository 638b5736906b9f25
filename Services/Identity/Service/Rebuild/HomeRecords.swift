internal import Crypto
internal import EventSchema
internal import IdentityDomain

/// All rows of one home, in the memory of a rebuild. `apply` does to them what `HomeWriter` does in tables.
struct HomeRecords: Sendable {
    var users: [UserID: User] = [:]
    var identifiers: [Subject: Identifier] = [:]
    var onboarding: [OnboardingSessionID: Onboarding] = [:]
    var contacts: [Subject: VerifiedContact] = [:]
    var sessions: [SessionID: Session] = [:]
    var devices: [Digest: Device] = [:]
    var failures: [LoginFailures.Key: LoginFailures] = [:]
    var notices: [Subject: SignUpNotice] = [:]

    /// What was read from tables, or was written there: rows that may have to make way.
    var isStored = false

    /// How many rows there are.
    var count: Int {
        users.count + identifiers.count + onboarding.count + contacts.count + sessions.count + devices.count + failures.count
            + notices.count
    }
}
