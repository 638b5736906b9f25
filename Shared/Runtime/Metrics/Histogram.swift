import Synchronization

/// Counts observations by size.
public final class Histogram: Sendable {
    /// From 1 ms to 10 s, for latencies in seconds.
    public static let latencyBuckets: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    /// Upper bounds, ascending; one more bucket takes what is larger.
    public let bounds: [Double]
    private let cells: Mutex<Cells>

    struct Cells {
        /// One for each bound and one for the rest; not cumulative.
        var counts: [UInt64]
        var sum = 0.0
    }

    init(bounds: [Double]) {
        self.bounds = bounds
        cells = Mutex(Cells(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    public func observe(_ value: Double) {
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        cells.withLock { cells in
            cells.counts[index] += 1
            cells.sum += value
        }
    }

    /// In seconds, as Prometheus wants durations.
    public func observe(_ duration: Duration) { observe(duration.milliseconds / 1_000) }

    public var count: UInt64 { cells.withLock { $0.counts.reduce(0, +) } }
    public var sum: Double { cells.withLock { $0.sum } }

    func read() -> Cells { cells.withLock { Cells(counts: $0.counts, sum: $0.sum) } }
}
