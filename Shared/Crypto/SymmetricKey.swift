import CSodium

/// A key that encrypts and authenticates with XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03). Nonces are random: with 24
/// bytes they may be, for any number of messages.
public struct SymmetricKey: Sendable {
    /// The length of a key in bytes.
    public static let count = 32
    /// What sealing adds to the length of a message: nonce and tag.
    public static let overhead = nonceCount + tagCount

    static let nonceCount = 24
    static let tagCount = 16

    public let secret: Secret

    public init(_ secret: Secret) throws(CryptoError) {
        guard secret.count == Self.count else { throw .wrongLength(expected: Self.count, found: secret.count) }
        self.secret = secret
    }

    private init(validated secret: Secret) { self.secret = secret }

    public static func random() -> SymmetricKey { SymmetricKey(validated: .random(count: count)) }

    /// A key for the purpose `info` out of a secret of any length, by HKDF-SHA256.
    public static func derived(from secret: Secret, info: [UInt8]) -> SymmetricKey {
        SymmetricKey(validated: HKDFSHA256.derive(secret: secret, info: info, count: count))
    }

    /// nonce ‖ ciphertext ‖ tag.
    ///
    /// - Parameter context: what the message belongs to. It is not in the result, and must be given again to open it.
    public func seal(_ plaintext: [UInt8], context: [UInt8]) -> [UInt8] {
        seal(plaintext, context: context, nonce: Random.bytes(Self.nonceCount))
    }

    /// With a nonce of the caller's: for known answers in tests, and nothing else.
    func seal(_ plaintext: [UInt8], context: [UInt8], nonce: [UInt8]) -> [UInt8] {
        precondition(nonce.count == Self.nonceCount)
        Sodium.start()
        let count = Self.overhead + plaintext.count
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            _ = UnsafeMutableBufferPointer(rebasing: buffer[..<Self.nonceCount]).initialize(from: nonce)
            secret.withBytes { key in
                // It would fail for a message of more than 256 GiB only.
                let status = crypto_aead_xchacha20poly1305_ietf_encrypt(
                    buffer.baseAddress! + Self.nonceCount, nil, plaintext, UInt64(plaintext.count), context,
                    UInt64(context.count), nil, nonce, key.baseAddress!.assumingMemoryBound(to: UInt8.self))
                precondition(status == 0, "libsodium cannot encrypt")
            }
            initialized = count
        }
    }

    /// What was sealed, or `nil` if it was sealed with another key, for another context, or was changed.
    public func open(_ sealed: [UInt8], context: [UInt8]) -> [UInt8]? {
        let count = sealed.count - Self.overhead
        guard count >= 0 else { return nil }
        Sodium.start()
        var isValid = false
        // Room for one byte at least: an empty buffer may have no address, which libsodium takes as "check only".
        let plaintext = [UInt8](unsafeUninitializedCapacity: max(count, 1)) { buffer, initialized in
            sealed.withUnsafeBufferPointer { sealed in
                secret.withBytes { key in
                    let status = crypto_aead_xchacha20poly1305_ietf_decrypt(
                        buffer.baseAddress!, nil, nil, sealed.baseAddress! + Self.nonceCount,
                        UInt64(sealed.count - Self.nonceCount), context, UInt64(context.count), sealed.baseAddress!,
                        key.baseAddress!.assumingMemoryBound(to: UInt8.self))
                    isValid = status == 0
                }
            }
            initialized = isValid ? count : 0
        }
        return isValid ? plaintext : nil
    }
}
