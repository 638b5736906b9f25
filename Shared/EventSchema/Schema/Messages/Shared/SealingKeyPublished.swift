import Crypto
public import JSON

/// A service has a new key pair that others seal to.
public struct SealingKeyPublished: Message {
    public static let type = MessageType.sealingKeyPublished

    public var service: ServiceName
    /// The key's id, as boxes name it.
    public var key: String
    /// The public half of an X25519 pair, 32 bytes.
    public var publicKey: [UInt8]
    /// Senders use the key from `notBefore` until `notAfter`.
    public var notBefore: Timestamp
    public var notAfter: Timestamp

    public init(service: ServiceName, key: String, publicKey: [UInt8], notBefore: Timestamp, notAfter: Timestamp) {
        precondition(publicKey.count == 32, "an X25519 key has 32 bytes")
        self.service = service
        self.key = key
        self.publicKey = publicKey
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    public init(fields: Fields) throws(SchemaError) {
        service = try fields.choice("service")
        key = try fields.string("key")
        publicKey = try fields.value("public") { text in Base64URL.decode(text).flatMap { $0.count == 32 ? $0 : nil } }
        notBefore = try fields.time("notBefore")
        notAfter = try fields.time("notAfter")
    }

    public var json: JSON {
        [
            "service": .string(service.rawValue),
            "key": .string(key),
            "public": .string(Base64URL.encode(publicKey)),
            "notBefore": .string(notBefore.rfc3339),
            "notAfter": .string(notAfter.rfc3339),
        ]
    }
}
