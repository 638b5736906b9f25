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
    private let codes: [HMACSHA256]

    public var recipient: RecipientKey { RecipientKey(id: sealing.id, publicKey: sealing.pair.publicKey) }

    /// - Parameter accepted: secrets under which codes may have been made, too.
    public init(secret: Secret, accepted: [Secret] = []) {
        sealing = DerivedSealingKey(service: .verification, secret: secret)
        opener = sealing.opener()
        for secret in accepted {
            let other = DerivedSealingKey(service: .verification, secret: secret)
            opener.insert(other.pair, id: other.id)
        }
        codes = ([secret] + accepted).map { HMACSHA256(key: Self.derive($0, "latchkey verification codes")) }
    }

    /// HMAC-SHA256 over subject, purpose and code. (The subject has a fixed length, and a code has no separator in it.)
    func hmac(of code: String, subject: Subject, purpose: Purpose) -> Digest {
        hmac(of: code, subject, purpose, under: codes[0])
    }

    /// What the code is where it was made under another accepted secret.
    func others(of code: String, subject: Subject, purpose: Purpose) -> [Digest] {
        codes.dropFirst().map { hmac(of: code, subject, purpose, under: $0) }
    }

    private func hmac(of code: String, _ subject: Subject, _ purpose: Purpose, under key: HMACSHA256) -> Digest {
        let bytes = key.code(for: subject.bytes + purpose.rawValue.utf8 + [0] + code.utf8)
        guard let digest = Digest(bytes: bytes) else { preconditionFailure("an HMAC-SHA256 has 32 bytes") }
        return digest
    }

    private static func derive(_ secret: Secret, _ purpose: String) -> Secret {
        HKDFSHA256.derive(secret: secret, info: Array(purpose.utf8), count: 32)
    }
}
