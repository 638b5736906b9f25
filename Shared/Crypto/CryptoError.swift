/// A key that cannot be used. Neither the error nor its description tells anything of the key.
public enum CryptoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Key material that does not have the length that its algorithm asks for.
    case wrongLength(expected: Int, found: Int)
    /// A public key with which no secret can be agreed on: a point of small order (RFC 7748, section 6.1).
    case weakPublicKey
    /// A key id that is not 1–64 characters of `A-Za-z0-9_-:`.
    case malformedKeyID

    public var description: String {
        switch self {
        case .wrongLength(let expected, let found): "key material has \(found) bytes instead of \(expected)"
        case .weakPublicKey: "the public key is a point of small order"
        case .malformedKeyID: "the key id is not 1 to 64 characters of A-Z, a-z, 0-9, _, - and :"
        }
    }
}
