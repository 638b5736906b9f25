import COpenSSL

/// One `EVP_PKEY` of OpenSSL.
///
/// `@unchecked`: a key is not changed after it was made, and OpenSSL lets any number of threads use one at once.
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    let algorithm: SignatureAlgorithm

    /// Takes the key over. Throws `.unusableKey` for one that is missing, or not a P-256 key or an RSA key of 2,048 to 8,192
    /// bits.
    init(owning key: OpaquePointer?) throws(CryptoError) {
        guard let key else { throw .unusableKey }
        guard let algorithm = Self.algorithm(of: key) else {
            EVP_PKEY_free(key)
            throw .unusableKey
        }
        pointer = key
        self.algorithm = algorithm
    }

    deinit { EVP_PKEY_free(pointer) }

    private static func algorithm(of key: OpaquePointer) -> SignatureAlgorithm? {
        if EVP_PKEY_is_a(key, "EC") == 1 {
            var name = [CChar](repeating: 0, count: 32)
            guard EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, &name, name.count, nil) == 1 else { return nil }
            return name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) } == "prime256v1" ? .es256 : nil
        }
        if EVP_PKEY_is_a(key, "RSA") == 1 { return (2_048...8_192).contains(EVP_PKEY_get_bits(key)) ? .rs256 : nil }
        return nil
    }

    /// A number of the key, big-endian without leading zeros.
    func number(_ name: String) -> [UInt8]? {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number else { return nil }
        defer { BN_free(number) }
        return BigNumber.bytes(of: number, count: BigNumber.length(of: number))
    }

    /// 4 ‖ x ‖ y of a P-256 key.
    func point() -> [UInt8]? {
        var point = [UInt8](repeating: 0, count: 65)
        var count = 0
        guard EVP_PKEY_get_octet_string_param(pointer, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &count) == 1, count == 65,
            point[0] == 4
        else { return nil }
        return point
    }
}

enum BigNumber {
    static func length(of number: OpaquePointer) -> Int { Int(BN_num_bits(number) + 7) / 8 }

    /// Big-endian, with leading zeros up to `count` bytes; `nil` if it is longer.
    static func bytes(of number: OpaquePointer, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return BN_bn2binpad(number, &bytes, Int32(count)) == Int32(count) ? bytes : nil
    }
}
