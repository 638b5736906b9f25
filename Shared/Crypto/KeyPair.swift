import CSodium

/// An X25519 key pair (RFC 7748).
public struct KeyPair: Sendable {
    /// The length of either key in bytes.
    public static let count = 32

    public let privateKey: Secret
    public let publicKey: [UInt8]

    /// The pair of a private key that was kept: any 32 bytes, as they came from `privateKey`.
    public init(privateKey: Secret) throws(CryptoError) {
        guard privateKey.count == Self.count else { throw .wrongLength(expected: Self.count, found: privateKey.count) }
        self.init(validated: privateKey)
    }

    private init(validated privateKey: Secret) {
        Sodium.start()
        self.privateKey = privateKey
        publicKey = [UInt8](unsafeUninitializedCapacity: Self.count) { buffer, initialized in
            privateKey.withBytes { key in
                // Multiplying the base point cannot fail.
                _ = crypto_scalarmult_curve25519_base(buffer.baseAddress!, key.baseAddress!.assumingMemoryBound(to: UInt8.self))
            }
            initialized = Self.count
        }
    }

    public static func random() -> KeyPair {
        KeyPair(validated: .random(count: Self.count))
    }

    /// The same pair for the same seed, always: a seed derived from a service's secret makes a pair that needs no storage.
    /// The seed is the private key; derive it for this purpose alone.
    ///
    /// - Precondition: 32 bytes.
    public static func derived(from seed: Secret) -> KeyPair {
        precondition(seed.count == Self.count, "a seed has 32 bytes")
        return KeyPair(validated: seed)
    }
}
