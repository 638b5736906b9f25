import Crypto
import Testing

@Suite struct Randomness {
    @Test func `bytes of the length asked for, never the same twice`() {
        for count in [0, 1, 16, 33] { #expect(Random.bytes(count).count == count) }
        #expect(Set((0..<1_000).map { _ in Random.bytes(16) }).count == 1_000)
    }

    @Test(arguments: 1...9) func `a code has its digits, leading zeros included`(digits: Int) {
        var leading: Set<Character> = []
        for _ in 0..<1_000 {
            let code = Random.code(digits: digits)
            #expect(code.utf8.count == digits && code.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            leading.insert(code.first!)
        }
        // One digit missing from 1,000 codes has a probability below 10^-44.
        #expect(leading.count == 10)
    }

    @Test func `the usual code has six digits`() {
        #expect(Random.code().utf8.count == 6)
    }

    /// Pearson's chi-square, with a bound that fair codes pass but once in 10^9 runs, and codes taken from bytes modulo 10,
    /// for example, never.
    @Test func `every digit is as likely as the others in every place`() {
        let codes = 60_000
        var counts = [[Int]](repeating: [Int](repeating: 0, count: 10), count: 6)
        for _ in 0..<codes {
            for (place, digit) in Random.code(digits: 6).utf8.enumerated() { counts[place][Int(digit - UInt8(ascii: "0"))] += 1 }
        }
        let expected = Double(codes) / 10
        for place in counts {
            let deviation = place.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
            #expect(deviation < 61, "nine degrees of freedom")
        }
    }

    /// With 2^32 values modulo this bound the lower half would come twice as often as the upper one.
    @Test func `values that would favour some results are drawn again`() {
        let bound: UInt32 = 3 << 30
        let draws = 20_000
        let low = (0..<draws).count { _ in Random.below(bound) < 1 << 30 }
        // A third are expected, half without rejection; six standard deviations are 400.
        #expect(abs(low - draws / 3) < 400)
        #expect((0..<1_000).allSatisfy { _ in Random.below(1) == 0 })
    }
}
