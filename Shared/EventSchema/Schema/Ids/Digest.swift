import Crypto

/// 32 bytes of SHA-256 or HMAC-SHA256 that stand for a secret.
public struct Digest: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    /// `nil` unless there are exactly 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// SHA-256. For secrets of at least 128 bits only: a code or a password is guessed from its bare hash.
    public init(of bytes: [UInt8]) { self.bytes = SHA256.hash(bytes) }

    /// Reads the form that `base64url` gives. `nil` for anything else.
    public init?(_ text: String) {
        guard let bytes = Base64URL.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// Compares in constant time, which `==` does not.
    public func matches(_ other: Digest) -> Bool { constantTimeEquals(bytes, other.bytes) }

    /// 43 characters.
    public var base64url: String { Base64URL.encode(bytes) }
    public var description: String { base64url }
}
