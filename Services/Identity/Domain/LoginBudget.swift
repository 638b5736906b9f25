public import EventSchema

/// Counts failed logins, and blocks after too many: for a time that doubles with each.
public struct LoginBudget: Hashable, Sendable {
    public var failures: Int64
    public var lastFailure: Timestamp?
    public var blockedUntil: Timestamp?

    public init(failures: Int64 = 0, lastFailure: Timestamp? = nil, blockedUntil: Timestamp? = nil) {
        self.failures = failures
        self.lastFailure = lastFailure
        self.blockedUntil = blockedUntil
    }

    /// Whether it says nothing any more: there were as many quiet minutes as it takes, or a clock was wrong.
    public func isForgotten(at now: Timestamp) -> Bool {
        guard let lastFailure, lastFailure <= now else { return true }
        return max(lastFailure, blockedUntil ?? lastFailure) + Home.quietTime <= now
    }

    /// How long logins are blocked still; `nil` when they are not.
    func block(at now: Timestamp) -> Interval? {
        guard !isForgotten(at: now), let blockedUntil, blockedUntil > now else { return nil }
        return blockedUntil - now
    }

    /// With one failure more.
    func failing(at now: Timestamp, limit: Int) -> FailedLogins {
        let count = isForgotten(at: now) ? 1 : failures + 1
        guard count >= limit else { return FailedLogins(failures: count) }
        let doublings = min(count - Int64(limit), 20)
        let block = min(Home.shortestBlock.milliseconds << doublings, Home.longestBlock.milliseconds)
        return FailedLogins(failures: count, blockedUntil: now + .milliseconds(block))
    }

    init(_ failed: FailedLogins, at now: Timestamp) {
        self.init(failures: failed.failures, lastFailure: now, blockedUntil: failed.blockedUntil)
    }
}
