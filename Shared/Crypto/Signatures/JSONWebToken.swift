public import JSON

/// A signed token (RFC 7519) in the compact form of RFC 7515, read but not verified: what it claims can be seen only with the
/// key that made it.
///
/// Read strictly: three parts in base64url without padding, a header and claims that are JSON objects without doubled members,
/// one of our algorithms (there is no `none`), and no `crit`: no extension is understood here.
public struct JSONWebToken: Sendable {
    /// The longest token that is looked at, in bytes.
    public static let maximumCount = 8_192

    /// What the header says. The algorithm that counts is that of the key.
    public let algorithm: SignatureAlgorithm
    public let keyID: String?
    private let type: String?
    private let signed: [UInt8]
    private let payload: Range<Int>
    private let signature: [UInt8]

    public init(_ text: String) throws(JWTError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumCount else { throw .malformed }
        let dots = bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") }
        guard dots.count == 2, let header = Self.object(bytes[..<dots[0]]),
            let signature = Self.decode(bytes[(dots[1] + 1)...]), !signature.isEmpty
        else { throw .malformed }
        guard let name = header["alg"]?.string, header["crit"] == nil else { throw .malformed }
        guard let algorithm = SignatureAlgorithm(rawValue: name) else { throw .untrusted }
        for member in ["kid", "typ"] {
            if let value = header[member], value.string == nil { throw .malformed }
        }
        self.algorithm = algorithm
        keyID = header["kid"]?.string
        type = header["typ"]?.string
        signed = Array(bytes[..<dots[1]])
        payload = dots[0] + 1..<dots[1]
        self.signature = signature
    }

    /// Whether its header says that it is of this type (RFC 8725, section 3.11). `application/` may stand before it, and
    /// letters may be of either case (RFC 7515, section 4.1.9).
    public func isOf(type: String) -> Bool {
        guard var own = self.type?.lowercased() else { return false }
        if own.hasPrefix("application/") { own.removeFirst("application/".count) }
        return own == type.lowercased()
    }

    /// What the token says, after its signature was checked.
    ///
    /// - Parameter type: the `typ` that it must have; `nil` for a token from outside that may have any.
    /// - Throws: `.untrusted` if the key is for another algorithm or did not make the signature, `.wrongType`, `.malformed`.
    public func claims(verifiedBy key: VerificationKey, type: String?) throws(JWTError) -> TokenClaims {
        guard key.algorithm == algorithm, key.isValid(signature, for: signed) else { throw .untrusted }
        if let type, !isOf(type: type) { throw .wrongType }
        guard let claims = Self.object(signed[payload]) else { throw .malformed }
        return try TokenClaims(claims)
    }

    private static func decode(_ part: ArraySlice<UInt8>) -> [UInt8]? { Base64URL.decode(String(decoding: part, as: UTF8.self)) }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        guard let bytes = decode(part), case .object(let object)? = try? JSON.parse(bytes) else { return nil }
        return object
    }

    /// A new token.
    public static func signed(_ claims: JSONObject, type: String, keyID: String, by key: SigningKey) -> String {
        let header: JSON = ["alg": .string(key.algorithm.rawValue), "typ": .string(type), "kid": .string(keyID)]
        let signed = Base64URL.encode(header.serialized()) + "." + Base64URL.encode(JSON.object(claims).serialized())
        return signed + "." + Base64URL.encode(key.sign(Array(signed.utf8)))
    }
}

/// Why a token does not count. None of them says anything of what stands in it.
public enum JWTError: Error, Hashable, Sendable {
    case malformed
    /// An algorithm that is none of ours, or a signature that the key did not make.
    case untrusted
    /// A token for something else.
    case wrongType
    case wrongIssuer
    case wrongAudience
    /// It has expired, or is not valid yet.
    case outOfTime
}
