public import Runtime

/// One budget of one client or identifier.
public struct Quota: Hashable, Sendable {
    /// 16 bytes that say nothing of whose budget it is.
    public var key: [UInt8]
    public var rate: Rate
    /// Whether one that fits is counted; otherwise it is only looked whether it would.
    public var counts: Bool

    public init(key: [UInt8], rate: Rate, counts: Bool = true) {
        self.key = key
        self.rate = rate
        self.counts = counts
    }
}

/// Whether one more fits into a budget.
public enum Admission: Hashable, Sendable {
    /// It fits, and was counted if it was to be.
    case admitted
    /// It does not, and was not counted; after this time the next one would fit.
    case refused(wait: Duration)
}

/// Counts in exact sliding windows.
public protocol QuotaCounter: Sendable {
    /// Takes one more of a budget and, where that is admitted, of a second one, in one step. Throws when the count cannot be
    /// reached: then neither was taken, or nobody knows.
    ///
    /// - Parameter next: counts, and is nobody's first one.
    /// - Returns: `next` is `nil` where it was not taken.
    func take(_ quota: Quota, then next: Quota?) async throws -> (first: Admission, next: Admission?)
}

extension QuotaCounter {
    func take(_ quota: Quota) async throws -> Admission { try await take(quota, then: nil).first }
}
