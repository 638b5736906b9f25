import Crypto

/// Stands for a client address beside one identifier: the first 8 bytes of an HMAC over both under a key of Identity's, so that
/// nothing links what came from one address to several identifiers.
public struct AddressTag: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    /// `nil` unless there are exactly 8 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 8 else { return nil }
        self.bytes = bytes
    }

    /// Reads the form that `base64url` gives. `nil` for anything else.
    public init?(_ text: String) {
        guard let bytes = Base64URL.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// 11 characters.
    public var base64url: String { Base64URL.encode(bytes) }
    public var description: String { base64url }
}
