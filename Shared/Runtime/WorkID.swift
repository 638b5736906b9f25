import Synchronization

/// Names of pieces of work: traces, spans, requests. They never repeat within a process and look random, but cost no system
/// call each. Nothing secret may be made of them: who sees some may guess others.
public enum WorkID {
    private static let seeds = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
    private static let count = Atomic<UInt64>(0)

    /// 16 lower-case hexadecimal digits for each of `words`, not all zero.
    public static func hexadecimal(words: Int = 1) -> String {
        String(unsafeUninitializedCapacity: 16 * words) { digits in
            for word in 0..<words {
                let number = next()
                for index in 0..<16 {
                    let value = UInt8(truncatingIfNeeded: number >> (60 - 4 * UInt64(index)) & 15)
                    digits[16 * word + index] = value < 10 ? 0x30 + value : 0x57 + value
                }
            }
            return 16 * words
        }
    }

    /// A permutation of the counter; the one value that gives zero is skipped.
    private static func next() -> UInt64 {
        while true {
            let number = mix(mix(count.add(1, ordering: .relaxed).newValue &+ seeds.0) ^ seeds.1)
            if number != 0 { return number }
        }
    }

    /// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
    private static func mix(_ value: UInt64) -> UInt64 {
        var value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
