public import EventSchema

extension Home {
    /// How long a proof waits for the onboarding session that consumes it.
    public static let flagLifetime = Interval.minutes(10)
    public static let onboardingLifetime = Interval.hours(24)
    /// How long a completion that comes again gives the same tokens.
    public static let completionGrace = Interval.seconds(60)

    /// A session ends when it was not refreshed for so long,
    public static let idleLifetime = Interval.days(30)
    /// and however often it was refreshed.
    public static let absoluteLifetime = Interval.days(90)
    /// How long a used refresh token gives its successor again.
    public static let refreshGrace = Interval.seconds(30)
    public static let liveSessions = 100

    public static let deviceLifetime = Interval.days(365)
    public static let devices = 20

    /// The wrong password that is this many in a row for one session ends it.
    public static let passwordChecks = 5

    /// Failed logins after which logins are blocked: for an identifier, for an identifier from one client address, and for a
    /// device of the account.
    public static let identifierFailures = 10
    public static let addressFailures = 5
    public static let deviceFailures = 10
    /// The first block; each failure after it doubles the next, up to `longestBlock`.
    public static let shortestBlock = Interval.seconds(1)
    public static let longestBlock = Interval.minutes(15)
    /// What counts failures forgets them after so long without one, and without a block.
    public static let quietTime = Interval.minutes(15)

    /// How often the owner of an address is told that somebody signs up with it.
    public static let noticeInterval = Interval.hours(1)
}
