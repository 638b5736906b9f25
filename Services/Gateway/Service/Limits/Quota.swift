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
    /// Throws when the count cannot be reached.
    func take(_ quota: Quota) async throws -> Admission
}
