import Synchronization

/// Shows how much of something there is.
public final class Gauge: Sendable {
    private let bits = Atomic<UInt64>(0)

    init() {}

    public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    public func set(_ value: some BinaryInteger) { set(Double(value)) }
    public func set(_ value: Bool) { set(value ? 1.0 : 0.0) }

    public func add(_ amount: Double) { bits.addFloat(amount) }
    public func increment() { add(1) }
    public func decrement() { add(-1) }

    public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
}

extension Atomic where Value == UInt64 {
    /// Adds to the floating-point number whose bits these are.
    borrowing fileprivate func addFloat(_ amount: Double) {
        var seen = load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: seen) + amount).bitPattern
            let (exchanged, original) = weakCompareExchange(expected: seen, desired: sum, ordering: .relaxed)
            if exchanged { return }
            seen = original
        }
    }
}
