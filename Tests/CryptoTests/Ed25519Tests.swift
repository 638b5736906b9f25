import Crypto
import Testing

struct Ed25519Tests {
    private static let seed = Hex.decode("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")!
    private static let publicKey = Hex.decode("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")!
    private static let signature = Hex.decode(
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
            + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b")!

    @Test func `the first example of RFC 8032`() throws {
        let key = try Ed25519Key(seed: Secret(Self.seed))
        #expect(key.publicKey == Self.publicKey)
        #expect(key.signature(of: []) == Self.signature)
        #expect(Ed25519Key.isValid(Self.signature, of: [], by: Self.publicKey))
    }

    @Test func `another message, key or signature does not verify`() throws {
        let key = Ed25519Key.random()
        let message: [UInt8] = [1, 2, 3]
        let signature = key.signature(of: message)
        #expect(Ed25519Key.isValid(signature, of: message, by: key.publicKey))
        #expect(!Ed25519Key.isValid(signature, of: [1, 2, 4], by: key.publicKey))
        #expect(!Ed25519Key.isValid(signature, of: message, by: Ed25519Key.random().publicKey))
        #expect(!Ed25519Key.isValid(signature.reversed(), of: message, by: key.publicKey))
        #expect(!Ed25519Key.isValid([], of: message, by: key.publicKey))
        #expect(try Ed25519Key(seed: key.seed).publicKey == key.publicKey)
        #expect(throws: CryptoError.self) { try Ed25519Key(seed: Secret([1, 2, 3])) }
    }
}
