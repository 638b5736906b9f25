import Crypto

/// Personal data under a data key: XChaCha20-Poly1305, nonce ‖ ciphertext ‖ tag. Only Identity can open it, and nobody once the
/// key is destroyed.
public struct Ciphertext: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    /// `nil` where there are fewer bytes than nonce and tag have.
    public init?(bytes: [UInt8]) {
        guard bytes.count >= SymmetricKey.overhead else { return nil }
        self.bytes = bytes
    }

    /// Reads the form that `base64url` gives. `nil` for anything else.
    public init?(_ text: String) {
        guard let bytes = Base64URL.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    public var base64url: String { Base64URL.encode(bytes) }
    public var description: String { "***" }
}
