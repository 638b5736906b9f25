public import Crypto
import EventSchema
public import Sealing

/// What Verification derives from its secret: the key under which codes are kept, and the pair that entered codes are sealed
/// to. Every instance derives the same.
public struct VerificationKeys: Sendable {
    /// What others seal entered codes to, as the topic `keys` tells it.
    public let sealing: DerivedSealingKey
    /// Opens entered codes.
    public let opener: BoxOpener
    private let codes: HMACSHA256

    public var recipient: RecipientKey { RecipientKey(id: sealing.id, publicKey: sealing.pair.publicKey) }

    public init(secret: Secret) {
        sealing = DerivedSealingKey(service: .verification, secret: secret)
        opener = sealing.opener()
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
