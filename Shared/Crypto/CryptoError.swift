/// What cannot be done, most often with a key. Neither the error nor its description tells anything of keys or passwords.
public enum CryptoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Key material that does not have the length that its algorithm asks for.
    case wrongLength(expected: Int, found: Int)
    /// A public key with which no secret can be agreed on: a point of small order (RFC 7748, section 6.1).
    case weakPublicKey
    /// A key id that is not 1–64 characters of `A-Za-z0-9_-:`.
    case malformedKeyID
    /// A signing key in another form, of another kind or size, or that is not one at all.
    case unusableKey
    /// Hashing a password needs more memory than there is.
    case outOfMemory

    public var description: String {
        switch self {
        case .wrongLength(let expected, let found): "key material has \(found) bytes instead of \(expected)"
        case .weakPublicKey: "the public key is a point of small order"
        case .malformedKeyID: "the key id is not 1 to 64 characters of A-Z, a-z, 0-9, _, - and :"
        case .unusableKey: "the signing key cannot be used"
        case .outOfMemory: "there is not enough memory to hash a password"
        }
    }
}
