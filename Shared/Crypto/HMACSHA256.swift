/// HMAC-SHA256 (RFC 2104) under one key. The key is hashed in once; a value can be shared between threads.
public struct HMACSHA256: Sendable {
    /// The length of a code in bytes.
    public static let count = 32

    private let contexts: KeyedContexts

    /// A key of any length. Keys of more than 64 bytes are hashed first, as the RFC says.
    public init(key: [UInt8]) {
        contexts = key.withUnsafeBytes { KeyedContexts(key: $0) }
    }

    public init(key: Secret) {
        contexts = key.withBytes { KeyedContexts(key: $0) }
    }

    /// The 32 bytes of the code.
    public func code(for bytes: [UInt8]) -> [UInt8] {
        contexts.code(for: bytes)
    }

    /// Whether `code` is the code of `bytes`, found out in constant time. A shortened code is not.
    public func isValid(_ code: [UInt8], for bytes: [UInt8]) -> Bool {
        constantTimeEquals(code, contexts.code(for: bytes))
    }
}
