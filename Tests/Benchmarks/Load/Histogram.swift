/// Counts durations in microseconds, exact to one part in 128, in constant space and time.
struct Histogram {
    private static let precision = 7
    private var counts = [Int](repeating: 0, count: 48 << Histogram.precision)
    private(set) var count = 0

    mutating func add(_ microseconds: Int64) {
        counts[min(Self.bucket(max(0, microseconds)), counts.count - 1)] += 1
        count += 1
    }

    /// The duration in microseconds that this share of all does not exceed; 0 where there are none.
    func quantile(_ share: Double) -> Int64 {
        var left = Int((Double(count) * share).rounded(.up))
        for (bucket, number) in counts.enumerated() where number > 0 {
            left -= number
            if left <= 0 { return Self.upperBound(bucket) }
        }
        return 0
    }

    /// Values up to 127 have a bucket each; from there on each power of two has 128.
    private static func bucket(_ value: Int64) -> Int {
        let magnitude = max(0, Int64.bitWidth - 1 - value.leadingZeroBitCount - precision)
        return magnitude << precision + Int(value >> magnitude)
    }

    private static func upperBound(_ bucket: Int) -> Int64 {
        let magnitude = max(0, bucket >> precision - 1)
        return (Int64(bucket - magnitude << precision) + 1) << magnitude - 1
    }
}
