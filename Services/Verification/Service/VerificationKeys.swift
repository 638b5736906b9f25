public import Crypto
import EventSchema

/// What Verification derives from its secret: the key under which codes are kept, and the pair that entered codes are sealed
/// to. Every instance derives the same.
public struct VerificationKeys: Sendable {
    /// Opens entered codes.
    public let opener: BoxOpener
    /// What others seal entered codes to.
    public let recipient: RecipientKey
    private let codes: HMACSHA256

    public init(secret: Secret) {
        let pair = KeyPair.derived(from: Self.derive(secret, "latchkey verification entered codes"))
        // The id follows from the key, so that a new secret is a new recipient.
        let id = "verification:" + Base64URL.encode(Array(SHA256.hash(pair.publicKey).prefix(9)))
        recipient = RecipientKey(id: id, publicKey: pair.publicKey)
        opener = BoxOpener()
        opener.insert(pair, id: id)
        codes = HMACSHA256(key: Self.derive(secret, "latchkey verification codes"))
    }

    /// HMAC-SHA256 over subject, purpose and code. (The subject has a fixed length, and a code has no separator in it.)
    func hmac(of code: String, subject: Subject, purpose: Purpose) -> Digest {
        let bytes = codes.code(for: subject.bytes + purpose.rawValue.utf8 + [0] + code.utf8)
        guard let digest = Digest(bytes: bytes) else { preconditionFailure("an HMAC-SHA256 has 32 bytes") }
        return digest
    }

    private static func derive(_ secret: Secret, _ purpose: String) -> Secret {
        HKDFSHA256.derive(secret: secret, info: Array(purpose.utf8), count: 32)
    }
}
