import COpenSSL

/// A private key that signs tokens. Shared by any number of threads.
public struct SigningKey: Sendable {
    private let handle: KeyHandle
    public let publicKey: VerificationKey

    public var algorithm: SignatureAlgorithm { handle.algorithm }

    private init(_ handle: KeyHandle) throws(CryptoError) {
        self.handle = handle
        publicKey = try VerificationKey(handle)
    }

    /// A new key: P-256, or RSA with 2,048 bits (which takes a while).
    public static func random(_ algorithm: SignatureAlgorithm) -> SigningKey {
        let key =
            switch algorithm {
            case .es256: latchkey_new_p256()
            case .rs256: latchkey_new_rsa(2_048)
            }
        guard let made = try? SigningKey(KeyHandle(owning: key)) else { preconditionFailure("libcrypto cannot make a key") }
        return made
    }

    /// The key that `pkcs8` gave. Throws `.unusableKey`.
    public init(pkcs8: Secret) throws(CryptoError) {
        let key = pkcs8.withBytes { bytes -> OpaquePointer? in
            var start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            guard let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &start, bytes.count) else { return nil }
            defer { PKCS8_PRIV_KEY_INFO_free(info) }
            return EVP_PKCS82PKEY(info)
        }
        try self.init(KeyHandle(owning: key))
    }

    /// PrivateKeyInfo (RFC 5208) in DER, not encrypted.
    public var pkcs8: Secret {
        guard let info = EVP_PKEY2PKCS8(handle.pointer) else { preconditionFailure("libcrypto cannot write a key") }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        let count = i2d_PKCS8_PRIV_KEY_INFO(info, nil)
        precondition(count > 0, "libcrypto cannot write a key")
        return Secret(count: Int(count)) { buffer in
            var start = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            precondition(i2d_PKCS8_PRIV_KEY_INFO(info, &start) == count, "libcrypto cannot write a key")
        }
    }

    /// As RFC 7518, section 3, has it: R ‖ S in 64 bytes for ES256, as long as the modulus for RS256.
    public func sign(_ bytes: [UInt8]) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("libcrypto is out of memory") }
        defer { EVP_MD_CTX_free(context) }
        var count = Int(EVP_PKEY_get_size(handle.pointer))
        var signature = [UInt8](repeating: 0, count: count)
        Digest.check(EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, handle.pointer, nil))
        Digest.check(EVP_DigestSign(context, &signature, &count, bytes, bytes.count))
        signature.removeLast(signature.count - count)
        switch algorithm {
        case .rs256: return signature
        case .es256: return ECDSASignature.raw(der: signature)
        }
    }
}

/// The two forms of a P-256 signature: OpenSSL's is DER, that of tokens is R ‖ S.
enum ECDSASignature {
    static func raw(der: [UInt8]) -> [UInt8] {
        var start: UnsafePointer<UInt8>?
        let signature = der.withUnsafeBufferPointer { bytes in
            start = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &start, bytes.count)
        }
        guard let signature else { preconditionFailure("libcrypto cannot read its own signature") }
        defer { ECDSA_SIG_free(signature) }
        guard let r = BigNumber.bytes(of: ECDSA_SIG_get0_r(signature), count: 32),
            let s = BigNumber.bytes(of: ECDSA_SIG_get0_s(signature), count: 32)
        else { preconditionFailure("a number of a P-256 signature has at most 32 bytes") }
        return r + s
    }

    /// `nil` unless there are 64 bytes.
    static func der(raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 64, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let r = BN_bin2bn(Array(raw[..<32]), 32, nil)
        let s = BN_bin2bn(Array(raw[32...]), 32, nil)
        // From here on the signature owns both.
        guard ECDSA_SIG_set0(signature, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        var der = [UInt8](repeating: 0, count: Int(max(0, i2d_ECDSA_SIG(signature, nil))))
        return der.withUnsafeMutableBufferPointer { buffer in
            var start = buffer.baseAddress
            return i2d_ECDSA_SIG(signature, &start) > 0
        } ? der : nil
    }
}
