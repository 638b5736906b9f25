import COpenSSL

/// HKDF with SHA-256 (RFC 5869): keys for different purposes from one secret.
public enum HKDFSHA256 {
    /// - Parameters:
    ///   - secret: the input keying material, at least one byte.
    ///   - salt: not secret; empty stands for 32 zero bytes, as the RFC says.
    ///   - info: the purpose, at most 1,024 bytes. Keys of different purposes tell nothing of each other.
    ///   - count: bytes of the derived key, 1 to 8,160.
    public static func derive(secret: Secret, salt: [UInt8] = [], info: [UInt8], count: Int) -> Secret {
        secret.withBytes { derive($0, salt: salt, info: info, count: count) }
    }

    /// The same, for material that is in an array already.
    public static func derive(secret: [UInt8], salt: [UInt8] = [], info: [UInt8], count: Int) -> [UInt8] {
        secret.withUnsafeBytes { derive($0, salt: salt, info: info, count: count) }.withBytes { Array($0) }
    }

    private static func derive(_ secret: UnsafeRawBufferPointer, salt: [UInt8], info: [UInt8], count: Int) -> Secret {
        precondition(!secret.isEmpty, "there is nothing to derive a key from")
        precondition(info.count <= 1_024, "a purpose has at most 1,024 bytes")
        precondition((1...255 * SHA256.count).contains(count), "HKDF-SHA256 gives 1 to 8,160 bytes")
        guard let context = EVP_KDF_CTX_new(function) else { preconditionFailure("libcrypto is out of memory") }
        // OpenSSL wipes what it copied of the secret.
        defer { EVP_KDF_CTX_free(context) }
        return Secret(count: count) { output in
            let start = output.baseAddress!.assumingMemoryBound(to: UInt8.self)
            let status = latchkey_hkdf_sha256(
                context, start, count, secret.baseAddress, secret.count, salt, salt.count, info, info.count)
            Digest.check(status)
        }
    }

    /// `nonisolated(unsafe)`: written once, and a fetched function is immutable and shared between threads by design.
    nonisolated(unsafe) private static let function: OpaquePointer = {
        guard let function = EVP_KDF_fetch(nil, "HKDF", nil) else { preconditionFailure("libcrypto has no HKDF") }
        return function
    }()
}
