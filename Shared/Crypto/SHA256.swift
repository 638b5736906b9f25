import COpenSSL

/// SHA-256 (FIPS 180-4), of one array or of parts as they come.
public struct SHA256: ~Copyable {
    public static let count = 32

    private let context: OpaquePointer

    public init() {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("libcrypto is out of memory") }
        self.context = context
        Digest.check(EVP_DigestInit_ex2(context, Digest.sha256, nil))
    }

    deinit { EVP_MD_CTX_free(context) }

    public mutating func update(_ bytes: [UInt8]) {
        Digest.check(EVP_DigestUpdate(context, bytes, bytes.count))
    }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        Digest.check(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    /// The 32 bytes of the hash of everything that was given to `update`.
    public consuming func finalize() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.count) { buffer, initialized in
            Digest.check(EVP_DigestFinal_ex(context, buffer.baseAddress!, nil))
            initialized = Self.count
        }
    }

    /// The 32 bytes of the hash of `bytes`.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.count) { buffer, initialized in
            Digest.check(EVP_Digest(bytes, bytes.count, buffer.baseAddress!, nil, Digest.sha256, nil))
            initialized = Self.count
        }
    }
}
