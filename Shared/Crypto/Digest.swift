import COpenSSL

/// OpenSSL's implementation of SHA-256, looked up once: the look-up costs more than a short hash.
enum Digest {
    /// `nonisolated(unsafe)`: written once, and a fetched method is immutable and shared between threads by design.
    nonisolated(unsafe) static let sha256: OpaquePointer = {
        guard let method = EVP_MD_fetch(nil, "SHA256", nil) else { preconditionFailure("libcrypto has no SHA-256") }
        return method
    }()

    /// OpenSSL answers 0 only for misuse or lack of memory here; there is nothing to go on with after either.
    static func check(_ status: Int32) {
        precondition(status == 1, "libcrypto cannot hash")
    }
}
