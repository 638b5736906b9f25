public import JSON

/// A key that signed tokens, or was to, signs no more. Whatever brings it back from before, it stays so.
public struct SigningKeyRetired: Message {
    public static let type = MessageType.signingKeyRetired

    /// The key's id, as tokens name it.
    public var key: String
    public var retiredAt: Timestamp
    /// Whether an operator has taken it away: then no token that it has signed counts any more.
    public var isRevoked: Bool

    public init(key: String, retiredAt: Timestamp, isRevoked: Bool) {
        self.key = key
        self.retiredAt = retiredAt
        self.isRevoked = isRevoked
    }

    public init(fields: Fields) throws(SchemaError) {
        key = try fields.string("key")
        retiredAt = try fields.time("retiredAt")
        isRevoked = try fields.bool("revoked")
    }

    public var json: JSON {
        ["key": .string(key), "retiredAt": .string(retiredAt.rfc3339), "revoked": .bool(isRevoked)]
    }
}
