import Crypto

/// A token that a client keeps and presents, and that leads to what it is for: 17 random bytes (136 bits), the routing key of
/// its account and a reference (16 bytes) under a mask, a tag of 8 bytes, and the byte of its kind; 48 bytes, 64 characters of
/// base64url.
///
/// ``Routing`` makes and opens them. Only Latchkey can make one with a valid tag, so one that opens was issued for its reference
/// once; whether it is still good is for the owner of its digest to say.
public struct ReferenceToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public static let randomBytes = 17
    static let maskedBytes = 6 + 16
    static let tagBytes = 8
    private static let count = randomBytes + maskedBytes + tagBytes + 1

    public let bytes: [UInt8]
    public let kind: TokenKind

    /// Reads what `text` gives. `nil` for anything else: another length, another alphabet, another kind. The tag is not looked at.
    public init?(_ text: String, kind: TokenKind) {
        guard text.utf8.count == 64, let bytes = Base64URL.decode(text) else { return nil }
        self.init(bytes: bytes, kind: kind)
    }

    /// `nil` unless these are as many bytes as a token has, and of that kind. The tag is not looked at.
    public init?(bytes: [UInt8], kind: TokenKind) {
        guard bytes.count == Self.count, bytes[Self.count - 1] == kind.rawValue else { return nil }
        self.bytes = bytes
        self.kind = kind
    }

    init(kind: TokenKind, random: [UInt8], masked: [UInt8], tag: [UInt8]) {
        precondition(
            random.count == Self.randomBytes && masked.count == Self.maskedBytes && tag.count == Self.tagBytes,
            "a part of a token has another length")
        bytes = random + masked + tag + [kind.rawValue]
        self.kind = kind
    }

    /// The form that clients get. It is a secret.
    public var text: String { Base64URL.encode(bytes) }

    /// SHA-256 of the bytes, which is all that a service keeps of a token.
    public var digest: Digest { Digest(of: bytes) }

    var random: [UInt8] { Array(bytes[..<Self.randomBytes]) }
    var masked: [UInt8] { Array(bytes[Self.randomBytes..<Self.randomBytes + Self.maskedBytes]) }
    var tag: [UInt8] { Array(bytes[(Self.count - 1 - Self.tagBytes)..<(Self.count - 1)]) }

    public var description: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
