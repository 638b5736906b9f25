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
        guard case .refused(let wait) = try await take(limit, address.network.bytes) else { return }
        throw APIError.rateLimited(for: wait)
    }

    /// Counts a send; says whether it is over the budget of the day.
    public func isOverDailySends(_ subject: Subject, _ purpose: Purpose) async throws -> Bool {
        try await take(.dailySends, subject.bytes + purpose.rawValue.utf8) != .admitted
    }

    /// Throws `RATE_LIMITED` where a limit is used up, and counts nothing.
    public func look(_ address: IPAddress, at limit: Limit) async throws {
        guard case .refused(let wait) = try await take(limit, address.network.bytes, counts: false) else { return }
        throw APIError.rateLimited(for: wait)
    }

    private func take(_ limit: Limit, _ owner: [UInt8], counts: Bool = true) async throws -> Admission {
        guard let rate = rates[limit] else { return .admitted }
        // A name never holds the byte behind it, so no two budgets share a key.
        let code = key.code(for: limit.rawValue.utf8 + [0] + owner)
        let admission = try await counter.take(Quota(key: Array(code.prefix(16)), rate: rate, counts: counts))
        if admission != .admitted { refusals.with(limit.rawValue.lowercased()).increment() }
        return admission
    }
}
