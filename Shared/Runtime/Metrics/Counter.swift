import Synchronization

/// Counts what happened; never goes down.
public final class Counter: Sendable {
    private let count = Atomic<UInt64>(0)

    init() {}

    /// - Parameter amount: not negative.
    public func increment(by amount: Int = 1) {
        count.add(UInt64(amount), ordering: .relaxed)
    }

    public var value: UInt64 { count.load(ordering: .relaxed) }
}
