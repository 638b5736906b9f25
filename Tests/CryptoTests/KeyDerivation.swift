import Crypto
import Testing

@Suite struct KeyDerivation {
    /// RFC 5869, appendix A, test cases 1 to 3.
    static let cases: [([UInt8], [UInt8], [UInt8], String)] = [
        (
            Array(repeating: 0x0b, count: 22), Array(0x00...0x0c), Array(0xf0...0xf9),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        ),
        (
            Array(0x00...0x4f), Array(0x60...0xaf), Array(0xb0...0xff),
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
        ),
        (
            Array(repeating: 0x0b, count: 22), [], [],
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        ),
    ]

    @Test(arguments: cases) func `known keys`(secret: [UInt8], salt: [UInt8], info: [UInt8], key: String) {
        let count = key.utf8.count / 2
        #expect(Hex.encode(HKDFSHA256.derive(secret: secret, salt: salt, info: info, count: count)) == key)
        let derived: Secret = HKDFSHA256.derive(secret: Secret(secret), salt: salt, info: info, count: count)
        #expect(derived == Secret(Hex.decode(key)!))
    }

    @Test func `a shorter key is the beginning of a longer one`() {
        let secret = Array("secret".utf8)
        let longest = HKDFSHA256.derive(secret: secret, info: [1], count: 8_160)
        for count in [1, 31, 32, 33, 8_159] {
            #expect(HKDFSHA256.derive(secret: secret, info: [1], count: count) == Array(longest.prefix(count)))
        }
    }

    @Test func `another secret, salt or purpose gives another key`() {
        let key = HKDFSHA256.derive(secret: [1], salt: [2], info: [3], count: 32)
        #expect(key != HKDFSHA256.derive(secret: [9], salt: [2], info: [3], count: 32))
        #expect(key != HKDFSHA256.derive(secret: [1], salt: [9], info: [3], count: 32))
        #expect(key != HKDFSHA256.derive(secret: [1], salt: [2], info: [9], count: 32))
        #expect(key != HKDFSHA256.derive(secret: [1], salt: [2, 3], info: [], count: 32))
    }
}
