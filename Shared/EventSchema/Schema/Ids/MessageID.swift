import Crypto

/// The id of a command, event or reply (`ce_id`).
public struct MessageID: UUIDIdentifier {
    public let uuid: UUIDBytes

    public init(uuid: UUIDBytes) { self.uuid = uuid }

    /// 122 bits from the CSPRNG, as a version 4 UUID.
    public static func random() -> MessageID { MessageID(uuid: .random(version: 4)) }

    /// An id that follows from something else, for example from the scope of an idempotency key: the first 16 of at least
    /// 16 bytes of a digest, as a version 8 UUID.
    public init(digest: [UInt8]) {
        precondition(digest.count >= 16, "a message id needs 16 bytes of digest")
        guard let uuid = UUIDBytes(digest.prefix(16)) else { preconditionFailure("16 bytes are a UUID") }
        self.uuid = uuid.marked(version: 8)
    }
}

extension UUIDBytes {
    /// 122 bits from the CSPRNG under a version and the variant of RFC 9562.
    static func random(version: UInt64) -> UUIDBytes {
        guard let uuid = UUIDBytes(Random.bytes(16)) else { preconditionFailure("16 bytes are a UUID") }
        return uuid.marked(version: version)
    }
}
