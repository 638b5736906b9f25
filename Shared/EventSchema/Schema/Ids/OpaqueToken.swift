import Crypto

/// What an opaque token is good for. The byte is part of the token, so that one kind is never taken for another.
public enum TokenKind: UInt8, Sendable, CaseIterable {
    case reset = 1
    case refresh = 2
    case challenge = 3
    case authorizationCode = 4
    case apiKey = 5
    case device = 6
}

/// A token without a reference (see ``ReferenceToken``) that a client keeps and presents: 17 random bytes (136 bits), the routing key of its account, masked, and the byte
/// of its kind; 24 bytes, 32 characters of base64url. Only its digest is kept by services.
///
/// Whether a text is a token can be seen without any secret, and says nothing: a forged one routes to some partition, where
/// its digest is unknown.
public struct OpaqueToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public static let randomBytes = 17
    private static let count = randomBytes + 6 + 1

    public let bytes: [UInt8]
    public let kind: TokenKind

    /// Reads what `text` gives. `nil` for anything else: another length, another alphabet, an unknown kind, or not the one
    /// that is asked for.
    public init?(_ text: String, kind: TokenKind? = nil) {
        guard text.utf8.count == 32, let bytes = Base64URL.decode(text), bytes.count == Self.count else { return nil }
        guard let own = TokenKind(rawValue: bytes[Self.count - 1]), kind == nil || kind == own else { return nil }
        self.bytes = bytes
        self.kind = own
    }

    init(kind: TokenKind, random: [UInt8], masked: UInt64) {
        precondition(random.count == Self.randomBytes, "a token is made of 17 random bytes")
        bytes = random + RoutingKey(value: masked).bytes + [kind.rawValue]
        self.kind = kind
    }

    /// The form that clients get. It is a secret.
    public var text: String { Base64URL.encode(bytes) }

    /// SHA-256 of the bytes, which is all that a service keeps of a token.
    public var digest: Digest { Digest(of: bytes) }

    var random: [UInt8] { Array(bytes.prefix(Self.randomBytes)) }
    var masked: UInt64 { bytes[Self.randomBytes..<Self.randomBytes + 6].reduce(0) { $0 << 8 | UInt64($1) } }

    public var description: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
