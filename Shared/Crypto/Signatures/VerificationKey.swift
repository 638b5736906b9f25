import COpenSSL
public import JSON

/// A public key that signatures are checked with. Shared by any number of threads.
public struct VerificationKey: Sendable, Hashable {
    private enum Numbers: Hashable {
        case point(x: [UInt8], y: [UInt8])
        case modulus([UInt8], exponent: [UInt8])
    }

    private let handle: KeyHandle
    private let numbers: Numbers

    public var algorithm: SignatureAlgorithm { handle.algorithm }

    init(_ handle: KeyHandle) throws(CryptoError) {
        self.handle = handle
        switch handle.algorithm {
        case .es256:
            guard let point = handle.point() else { throw .unusableKey }
            numbers = .point(x: Array(point[1...32]), y: Array(point[33...]))
        case .rs256:
            guard let modulus = handle.number(OSSL_PKEY_PARAM_RSA_N), let exponent = handle.number(OSSL_PKEY_PARAM_RSA_E) else {
                throw .unusableKey
            }
            numbers = .modulus(modulus, exponent: exponent)
        }
    }

    public static func == (left: VerificationKey, right: VerificationKey) -> Bool { left.numbers == right.numbers }
    public func hash(into hasher: inout Hasher) { hasher.combine(numbers) }

    /// Whether the owner of the key signed these bytes.
    public func isValid(_ signature: [UInt8], for bytes: [UInt8]) -> Bool {
        let form: [UInt8]
        switch algorithm {
        case .rs256: form = signature
        case .es256:
            guard let der = ECDSASignature.der(raw: signature) else { return false }
            form = der
        }
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("libcrypto is out of memory") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, handle.pointer, nil) == 1 else { return false }
        return EVP_DigestVerify(context, form, form.count, bytes, bytes.count) == 1
    }

    // MARK: JSON Web Keys

    /// Reads a public key of RFC 7518, sections 6.2.1 and 6.3.1: P-256, or RSA of 2,048 to 8,192 bits.
    ///
    /// - Throws: `.unusableKey` for any other, and for one that says that it is for something else than our algorithms'
    ///   signatures.
    public init(jwk: JSONObject) throws(CryptoError) {
        if let use = jwk["use"], use.string != "sig" { throw .unusableKey }
        let algorithm = jwk["alg"]
        let key: OpaquePointer?
        switch jwk["kty"]?.string {
        case "EC":
            guard jwk["crv"]?.string == "P-256", algorithm == nil || algorithm?.string == SignatureAlgorithm.es256.rawValue,
                let x = Self.bytes(jwk["x"]), let y = Self.bytes(jwk["y"]), x.count == 32, y.count == 32
            else { throw .unusableKey }
            key = latchkey_public_p256([4] + x + y)
        case "RSA":
            guard algorithm == nil || algorithm?.string == SignatureAlgorithm.rs256.rawValue,
                let modulus = Self.bytes(jwk["n"]), let exponent = Self.bytes(jwk["e"]), modulus.count <= 1_024,
                (1...8).contains(exponent.count), exponent.last.map({ $0 & 1 == 1 }) == true, exponent != [1]
            else { throw .unusableKey }
            key = latchkey_public_rsa(modulus, Int32(modulus.count), exponent, Int32(exponent.count))
        default: throw .unusableKey
        }
        try self.init(KeyHandle(owning: key))
    }

    private static func bytes(_ value: JSON?) -> [UInt8]? {
        guard let bytes = value?.string.flatMap({ Base64URL.decode($0) }), !bytes.isEmpty else { return nil }
        return bytes
    }

    /// The public key for a JWKS (RFC 7517).
    public func jwk(keyID: String) -> JSONObject {
        var jwk = required
        jwk["use"] = "sig"
        jwk["alg"] = .string(algorithm.rawValue)
        jwk["kid"] = .string(keyID)
        return jwk
    }

    /// SHA-256 of the key itself (RFC 7638): a name that no other key has. 43 characters.
    public var thumbprint: String { Base64URL.encode(SHA256.hash(JSON.object(required).serialized())) }

    /// The members that the kind of key asks for, in the order of their names.
    private var required: JSONObject {
        switch numbers {
        case .point(let x, let y):
            ["crv": "P-256", "kty": "EC", "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y))]
        case .modulus(let modulus, let exponent):
            ["e": .string(Base64URL.encode(exponent)), "kty": "RSA", "n": .string(Base64URL.encode(modulus))]
        }
    }
}
