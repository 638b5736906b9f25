/// How tokens are signed: the `alg` of RFC 7518, section 3.1.
public enum SignatureAlgorithm: String, Sendable, CaseIterable {
    /// ECDSA with P-256 and SHA-256.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
}
