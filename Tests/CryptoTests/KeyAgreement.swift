import Testing

@testable import Crypto

@Suite struct KeyAgreement {
    private let message = Array("a message".utf8)
    private let context = Array("the context".utf8)

    /// RFC 7748, section 5.2.
    @Test(arguments: [
        (
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
        ),
        (
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
        ),
    ])
    func `X25519 of known numbers`(scalar: String, point: String, product: String) throws {
        #expect(try SharedSecret.multiply(secret(scalar), bytes(point)) == secret(product))
    }

    /// RFC 7748, section 5.2: the result becomes the scalar, the scalar becomes the point.
    @Test func `X25519, iterated`() throws {
        var scalar = [UInt8](repeating: 0, count: 32)
        scalar[0] = 9
        var point = scalar
        for turn in 1...1_000 {
            let product = try SharedSecret.multiply(Secret(scalar), point).withBytes { Array($0) }
            (scalar, point) = (product, scalar)
            if turn == 1 { #expect(Hex.encode(scalar) == "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079") }
        }
        #expect(Hex.encode(scalar) == "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51")
    }

    /// RFC 7748, section 6.1.
    @Test func `X25519 of Alice and Bob`() throws {
        let alice = try KeyPair(privateKey: secret("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"))
        let bob = try KeyPair(privateKey: secret("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))
        #expect(Hex.encode(alice.publicKey) == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
        #expect(Hex.encode(bob.publicKey) == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
        let shared = secret("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
        #expect(try SharedSecret.multiply(alice.privateKey, bob.publicKey) == shared)
        #expect(try SharedSecret.multiply(bob.privateKey, alice.publicKey) == shared)
    }

    @Test func `both sides open what the other sealed, nobody else does`() throws {
        let (alice, bob, eve) = (KeyPair.random(), KeyPair.random(), KeyPair.random())
        let sealed = try SharedSecret(own: alice, peer: bob.publicKey).seal(message, context: context)
        #expect(try SharedSecret(own: bob, peer: alice.publicKey).open(sealed, context: context) == message)
        #expect(try SharedSecret(own: alice, peer: bob.publicKey).open(sealed, context: context) == message)
        #expect(try SharedSecret(own: eve, peer: alice.publicKey).open(sealed, context: context) == nil)
        #expect(try SharedSecret(own: eve, peer: bob.publicKey).open(sealed, context: context) == nil)
        #expect(try SharedSecret(own: bob, peer: alice.publicKey).open(sealed, context: message) == nil)
    }

    /// The highest bit of a public key is ignored by X25519, so that two keys give the same product.
    @Test func `a key that was changed to an equivalent one does not open`() throws {
        let (alice, bob) = (KeyPair.random(), KeyPair.random())
        var equivalent = alice.publicKey
        equivalent[31] ^= 0x80
        #expect(
            try SharedSecret.multiply(bob.privateKey, equivalent) == SharedSecret.multiply(bob.privateKey, alice.publicKey))
        let sealed = try SharedSecret(own: alice, peer: bob.publicKey).seal(message, context: context)
        #expect(try SharedSecret(own: bob, peer: equivalent).open(sealed, context: context) == nil)
    }

    /// Points of small order: every product with them is zero, so that a stranger would know the secret.
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    ])
    func `a weak public key is refused`(key: String) {
        #expect(throws: CryptoError.weakPublicKey) { try SharedSecret(own: .random(), peer: bytes(key)) }
    }

    @Test(arguments: [0, 31, 33]) func `a key of another length is refused`(count: Int) {
        let error = CryptoError.wrongLength(expected: 32, found: count)
        #expect(throws: error) { try SharedSecret(own: .random(), peer: Random.bytes(count)) }
        #expect(throws: error) { try KeyPair(privateKey: .random(count: count)) }
    }

    @Test func `the same seed gives the same pair, another one another`() throws {
        let seed = Secret.random(count: 32)
        let pair = KeyPair.derived(from: seed)
        #expect(pair.publicKey == KeyPair.derived(from: seed).publicKey)
        #expect(pair.publicKey != KeyPair.derived(from: .random(count: 32)).publicKey)
        #expect(KeyPair.random().publicKey != KeyPair.random().publicKey)
        #expect(try KeyPair(privateKey: pair.privateKey).publicKey == pair.publicKey)
    }

    private func secret(_ hex: String) -> Secret { Secret(bytes(hex)) }
    private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex)! }
}
