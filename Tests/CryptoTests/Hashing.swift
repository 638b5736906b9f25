import Crypto
import Testing

@Suite struct Hashing {
    /// FIPS 180-4's examples and RFC 6234, section 8.5.
    static let messages: [(ArgumentBytes, String)] =
        ([
            ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                Array(
                    """
                    abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu
                    """.utf8), "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
            (
                Array(repeating: UInt8(ascii: "a"), count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ] as [([UInt8], String)]).map { (ArgumentBytes($0), $1) }

    @Test(arguments: messages) func `SHA-256 of known messages`(message: ArgumentBytes, digest: String) {
        #expect(Hex.encode(SHA256.hash(message.bytes)) == digest)
    }

    @Test(arguments: messages, [1, 63, 64, 1_000]) func `SHA-256 in parts`(message: (ArgumentBytes, String), size: Int) {
        let bytes = message.0.bytes
        var hash = SHA256()
        for start in stride(from: 0, to: min(bytes.count, 10_000), by: size) {
            hash.update(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        if bytes.count > 10_000 { hash.update(Array(bytes.dropFirst((10_000 + size - 1) / size * size))) }
        #expect(Hex.encode(hash.finalize()) == message.1)
    }

    @Test func `SHA-256 of memory that is lent`() {
        var hash = SHA256()
        Array("ab".utf8).withUnsafeBytes { hash.update($0) }
        [UInt8]().withUnsafeBytes { hash.update($0) }
        hash.update(Array("c".utf8))
        #expect(hash.finalize() == SHA256.hash(Array("abc".utf8)))
    }

    /// RFC 4231, section 4; the last one, both empty, is widely published.
    static let codes: [([UInt8], [UInt8], String)] = [
        (
            Array(repeating: 0x0b, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            Array(repeating: 0xaa, count: 20), Array(repeating: 0xdd, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (Array(1...25), Array(repeating: 0xcd, count: 50), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        (
            Array(repeating: 0xaa, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            Array(repeating: 0xaa, count: 131),
            Array("This is a test using a larger than block-size key and a larger than block-size data. ".utf8)
                + Array("The key needs to be hashed before being used by the HMAC algorithm.".utf8),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
        ([], [], "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ]

    @Test(arguments: codes) func `HMAC-SHA256 of known messages, again and again`(key: [UInt8], message: [UInt8], code: String) {
        for hmac in [HMACSHA256(key: key), HMACSHA256(key: Secret(key))] {
            for _ in 0..<3 {
                #expect(Hex.encode(hmac.code(for: message)) == code)
                #expect(hmac.code(for: message + [0]) != hmac.code(for: message))
            }
        }
    }

    /// RFC 4231, test case 5, compares the first 16 bytes.
    @Test func `HMAC-SHA256, truncated`() {
        let code = HMACSHA256(key: Array(repeating: 0x0c, count: 20)).code(for: Array("Test With Truncation".utf8))
        #expect(Hex.encode(Array(code.prefix(16))) == "a3b6167473100ee06e0c796c2955552b")
    }

    @Test func `a code is valid for its message and key only`() {
        let hmac = HMACSHA256(key: Array("key".utf8))
        let message = Array("message".utf8)
        let code = hmac.code(for: message)
        #expect(hmac.isValid(code, for: message))
        #expect(!hmac.isValid(code, for: message + [0]))
        #expect(!HMACSHA256(key: Array("kez".utf8)).isValid(code, for: message))
        for place in code.indices {
            var changed = code
            changed[place] ^= 1
            #expect(!hmac.isValid(changed, for: message))
        }
        #expect(!hmac.isValid(Array(code.dropLast()), for: message))
        #expect(!hmac.isValid(code + [0], for: message))
        #expect(!hmac.isValid([], for: message))
    }

    @Test func `one key serves many threads at once`() async {
        let hmac = HMACSHA256(key: Array("key".utf8))
        let messages = (0..<64 as Range<UInt8>).map { [UInt8](repeating: $0, count: Int($0) * 7) }
        let expected = messages.map { hmac.code(for: $0) }
        await withTaskGroup(of: Bool.self) { group in
            for start in 0..<8 {
                group.addTask {
                    (0..<2_000).allSatisfy { turn in
                        let place = (start * 11 + turn) % messages.count
                        return hmac.code(for: messages[place]) == expected[place]
                    }
                }
            }
            for await allRight in group { #expect(allRight) }
        }
    }
}
