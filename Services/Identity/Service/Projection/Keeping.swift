internal import EventSchema

/// How long rows stay that are over, by the whole minute of the last event of their partition.
enum Keeping {
    /// Proofs, after the end of their time.
    static let proofs = Interval.days(1)
    /// Onboarding sessions that were completed, superseded or expired, after the end of their time.
    static let onboarding = Interval.days(1)
    /// Sessions, after the end of their time.
    static let sessions = Interval.zero
    /// Ended sessions, after their end: longer than any access token of theirs lives, and than gateways ask for.
    static let endedSessions = Interval.hours(2)
    /// Budgets of failed logins, after the last failure.
    static let loginFailures = Interval.hours(1)
}
