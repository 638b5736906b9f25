import CSodium

/// Randomness from the operating system's cryptographic generator, through libsodium.
public enum Random {
    public static func bytes(_ count: Int) -> [UInt8] {
        // An array without room would share its storage with all empty ones, and nothing may be written there.
        guard count > 0 else { return [] }
        Sodium.start()
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            randombytes_buf(buffer.baseAddress!, count)
            initialized = count
        }
    }

    /// Evenly distributed in `0 ..< bound`: values that would favour some results are drawn again.
    ///
    /// - Precondition: `bound` is at least 1.
    public static func below(_ bound: UInt32) -> UInt32 {
        precondition(bound > 0, "there is no number below zero")
        Sodium.start()
        return randombytes_uniform(bound)
    }

    /// A decimal code with leading zeros, each of the 10^`digits` codes as likely as any other.
    ///
    /// - Precondition: 1 to 9 digits.
    public static func code(digits: Int = 6) -> String {
        precondition((1...9).contains(digits), "a code has 1 to 9 digits")
        var bound: UInt32 = 1
        for _ in 0..<digits { bound *= 10 }
        let code = String(below(bound))
        return String(repeating: "0", count: digits - code.utf8.count) + code
    }
}
