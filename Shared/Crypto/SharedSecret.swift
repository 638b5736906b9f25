import CSodium

/// What two key pairs have in common: X25519, then HKDF-SHA256 over it and both public keys, then XChaCha20-Poly1305. The
/// multiplication is done once, in the initialiser; sealing and opening cost symmetric cryptography alone.
public struct SharedSecret: Sendable {
    private let key: SymmetricKey

    /// The same for `own` and `peer` on either side.
    ///
    /// - Throws: `wrongLength`, `weakPublicKey`.
    public init(own: KeyPair, peer: [UInt8]) throws(CryptoError) {
        let point = try Self.multiply(own.privateKey, peer)
        // X25519 has several public keys for one point: hashing both binds the secret to the ones that were used.
        let ordered = own.publicKey.lexicographicallyPrecedes(peer) ? own.publicKey + peer : peer + own.publicKey
        key = .derived(from: point, info: Self.purpose + ordered)
    }

    private static let purpose = Array("latchkey.shared-secret.v1".utf8)

    /// X25519 as in RFC 7748, section 5, with the check of section 6.1.
    static func multiply(_ privateKey: Secret, _ publicKey: [UInt8]) throws(CryptoError) -> Secret {
        guard publicKey.count == KeyPair.count else { throw .wrongLength(expected: KeyPair.count, found: publicKey.count) }
        var isStrong = false
        let point = Secret(count: KeyPair.count) { point in
            privateKey.withBytes { scalar in
                let point = point.baseAddress!.assumingMemoryBound(to: UInt8.self)
                let scalar = scalar.baseAddress!.assumingMemoryBound(to: UInt8.self)
                isStrong = crypto_scalarmult_curve25519(point, scalar, publicKey) == 0
            }
        }
        guard isStrong else { throw .weakPublicKey }
        return point
    }

    /// nonce ‖ ciphertext ‖ tag.
    public func seal(_ plaintext: [UInt8], context: [UInt8]) -> [UInt8] {
        key.seal(plaintext, context: context)
    }

    /// What was sealed with the same pairs for the same context and not changed since; otherwise `nil`.
    public func open(_ sealed: [UInt8], context: [UInt8]) -> [UInt8]? {
        key.open(sealed, context: context)
    }
}
