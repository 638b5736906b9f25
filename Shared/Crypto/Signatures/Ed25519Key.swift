import CSodium

/// An Ed25519 key (RFC 8032) that signs. The same message always gets the same signature.
public struct Ed25519Key: Sendable {
    /// The length in bytes of the seed that a key is kept as.
    public static let seedCount = 32
    /// The length of a public key in bytes.
    public static let publicCount = 32
    /// The length of a signature in bytes.
    public static let signatureCount = 64

    public let seed: Secret
    public let publicKey: [UInt8]
    /// Seed and public key, as libsodium wants them.
    private let signing: Secret

    /// The key of a seed that was kept: any 32 bytes, as they came from `seed`.
    public init(seed: Secret) throws(CryptoError) {
        guard seed.count == Self.seedCount else { throw .wrongLength(expected: Self.seedCount, found: seed.count) }
        self.init(validated: seed)
    }

    private init(validated seed: Secret) {
        self.seed = seed
        var publicKey = [UInt8](repeating: 0, count: Self.publicCount)
        signing = Secret(count: 64) { buffer in
            seed.withBytes { seed in
                // A seed of the right length cannot fail.
                _ = crypto_sign_seed_keypair(
                    &publicKey, buffer.baseAddress!.assumingMemoryBound(to: UInt8.self),
                    seed.baseAddress!.assumingMemoryBound(to: UInt8.self))
            }
        }
        self.publicKey = publicKey
    }

    public static func random() -> Ed25519Key { Ed25519Key(validated: .random(count: seedCount)) }

    public func signature(of message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.signatureCount) { buffer, initialized in
            signing.withBytes { key in
                // It cannot fail.
                _ = crypto_sign_detached(
                    buffer.baseAddress!, nil, message, UInt64(message.count),
                    key.baseAddress!.assumingMemoryBound(to: UInt8.self))
            }
            initialized = Self.signatureCount
        }
    }

    /// Whether the holder of the key with this public half signed this message.
    public static func isValid(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
        guard signature.count == signatureCount, publicKey.count == publicCount else { return false }
        Sodium.start()
        return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }
}
