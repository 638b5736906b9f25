import Testing

@testable import Crypto

@Suite struct Encryption {
    private let key = SymmetricKey.random()
    private let message = Array("a message".utf8)
    private let context = Array("the context".utf8)

    /// draft-irtf-cfrg-xchacha-03, appendix A.3.1.
    @Test func `XChaCha20-Poly1305 of the known message`() throws {
        let key = try SymmetricKey(Secret(Array(0x80...0x9f)))
        let nonce: [UInt8] = Array(0x40...0x57)
        let data: [UInt8] = [0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7]
        let text =
            "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
        let ciphertext =
            "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39"
            + "ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
            + "21f9664c97637da9768812f615c68b13b52e"
        let tag = "c0875924c1c7987947deafd8780acf49"
        let sealed = key.seal(Array(text.utf8), context: data, nonce: nonce)
        #expect(Hex.encode(sealed) == Hex.encode(nonce) + ciphertext + tag)
        #expect(key.open(sealed, context: data) == Array(text.utf8))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 63, 64, 65, 1_000, 100_000]) func `messages of every length come back`(count: Int) {
        let message = Random.bytes(count)
        let sealed = key.seal(message, context: context)
        #expect(sealed.count == count + SymmetricKey.overhead)
        #expect(key.open(sealed, context: context) == message)
        #expect(key.open(key.seal(message, context: []), context: []) == message)
    }

    @Test func `the same message is never sealed the same way twice`() {
        #expect(key.seal(message, context: context) != key.seal(message, context: context))
    }

    @Test func `another key never opens`() {
        #expect(SymmetricKey.random().open(key.seal(message, context: context), context: context) == nil)
    }

    @Test func `another context never opens`() {
        let sealed = key.seal(message, context: context)
        for other in [[], Array(context.dropLast()), context + [0], Array("the contexu".utf8)] {
            #expect(key.open(sealed, context: other) == nil)
        }
        #expect(key.open(key.seal(message, context: []), context: context) == nil)
    }

    @Test func `not one bit can be changed, removed or added`() {
        for message in [message, []] {
            let sealed = key.seal(message, context: context)
            for place in sealed.indices {
                for bit in 0..<8 {
                    var changed = sealed
                    changed[place] ^= 1 << bit
                    #expect(key.open(changed, context: context) == nil)
                }
            }
            for count in 0..<sealed.count { #expect(key.open(Array(sealed.prefix(count)), context: context) == nil) }
            #expect(key.open(sealed + [0], context: context) == nil)
            #expect(key.open([0] + sealed, context: context) == nil)
        }
    }

    @Test(arguments: [0, 31, 33, 64]) func `a key of another length is refused`(count: Int) {
        #expect(throws: CryptoError.wrongLength(expected: 32, found: count)) { try SymmetricKey(.random(count: count)) }
    }

    @Test func `a derived key depends on secret and purpose`() {
        let secret = Secret.random(count: 20)
        let sealed = SymmetricKey.derived(from: secret, info: [1]).seal(message, context: context)
        #expect(SymmetricKey.derived(from: secret, info: [1]).open(sealed, context: context) == message)
        #expect(SymmetricKey.derived(from: secret, info: [2]).open(sealed, context: context) == nil)
        #expect(SymmetricKey.derived(from: .random(count: 20), info: [1]).open(sealed, context: context) == nil)
    }
}
