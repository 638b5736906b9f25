public import Crypto
public import EventSchema
public import HTTP
public import Runtime

/// The contract's limits.
public struct Limiter: Sendable {
    private let rates: [Limit: Rate]
    private let counter: any QuotaCounter
    private let key: HMACSHA256
    private let refusals: Labelled<Counter>

    /// - Parameters:
    ///   - rates: those that are switched off are missing.
    ///   - key: hides addresses: no readable one stands in the database.
    public init(rates: [Limit: Rate], counter: any QuotaCounter, key: Secret, metrics: Metrics) {
        self.rates = rates
        self.counter = counter
        self.key = HMACSHA256(key: key)
        refusals = metrics.counters(
            "latchkey_limit_refusals_total", "Requests that were over a limit.", labels: ["limit"])
    }

    /// Counts a request of a client. Throws `RATE_LIMITED` when it is one too many, which does not count.
    public func admit(_ address: IPAddress, to limit: Limit) async throws {
        try await take(Budget(limit, address)).get()
    }

    /// Counts a request of a client and, where it is admitted, the send that it asks for: gives whether that is within the budget
    /// of the day. Throws `RATE_LIMITED` when the request is one too many, which does not count.
    ///
    /// - Parameter device: a device of the account has a budget of its own, which strangers cannot use up.
    public func admit(
        _ address: IPAddress, to limit: Limit, sendingTo subject: Subject, _ purpose: Purpose, from device: Digest?
    ) async throws -> Admission {
        // No purpose holds the byte before a device.
        let daily = Budget(
            limit: .dailySends, owner: subject.bytes + purpose.rawValue.utf8 + (device.map { [0] + $0.bytes } ?? []))
        let (first, next) = try await take(Budget(limit, address), then: daily)
        try first.get()
        return next
    }

    /// Counts a sign-up. Throws `RATE_LIMITED` where the client makes too many of them, or has been told of too many accounts,
    /// which does not count.
    public func admitSignUp(_ address: IPAddress) async throws {
        var told = Budget(.accountExists, address)
        told.counts = false
        let (first, next) = try await take(told, then: Budget(.signUp, address))
        try first.get()
        try next.get()
    }

    private struct Budget {
        var limit: Limit
        var owner: [UInt8]
        var counts = true

        init(limit: Limit, owner: [UInt8]) {
            self.limit = limit
            self.owner = owner
        }

        init(_ limit: Limit, _ address: IPAddress) { self.init(limit: limit, owner: address.network.bytes) }
    }

    private func take(_ budget: Budget) async throws -> Admission {
        guard let quota = quota(budget) else { return .admitted }
        return note(try await counter.take(quota), budget)
    }

    /// The second one is meaningless where the first one is refused.
    private func take(_ first: Budget, then next: Budget) async throws -> (Admission, Admission) {
        guard let quota = quota(first) else { return (.admitted, try await take(next)) }
        let answer = try await counter.take(quota, then: self.quota(next))
        return (note(answer.first, first), note(answer.next ?? .admitted, next))
    }

    /// `nil` for a limit that is switched off.
    private func quota(_ budget: Budget) -> Quota? {
        guard let rate = rates[budget.limit] else { return nil }
        // A name never holds the byte behind it, so no two budgets share a key.
        let code = key.code(for: budget.limit.rawValue.utf8 + [0] + budget.owner)
        return Quota(key: Array(code.prefix(16)), rate: rate, counts: budget.counts)
    }

    private func note(_ admission: Admission, _ budget: Budget) -> Admission {
        if admission != .admitted { refusals.with(budget.limit.rawValue.lowercased()).increment() }
        return admission
    }
}

extension Admission {
    /// Throws `RATE_LIMITED` for what was refused.
    fileprivate func get() throws(APIError) {
        guard case .refused(let wait) = self else { return }
        throw .rateLimited(for: wait)
    }
}
