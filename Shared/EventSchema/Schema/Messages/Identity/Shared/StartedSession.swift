import JSON

/// A session as a sign-in starts it.
public struct StartedSession: Hashable, Sendable {
    public var session: SessionID
    /// Of its first refresh token.
    public var refresh: Digest
    /// However much it is used, it ends then.
    public var expiresAt: Timestamp
    /// Of the account's device token that the client holds now.
    public var device: Digest
    /// Whether that token was made by this sign-in; otherwise the client presented it.
    public var isNewDevice: Bool
    /// Client address and user agent, encrypted under the user's data key.
    public var client: Ciphertext?

    public init(
        session: SessionID, refresh: Digest, expiresAt: Timestamp, device: Digest, isNewDevice: Bool, client: Ciphertext? = nil
    ) {
        self.session = session
        self.refresh = refresh
        self.expiresAt = expiresAt
        self.device = device
        self.isNewDevice = isNewDevice
        self.client = client
    }

    init(fields: Fields) throws(SchemaError) {
        session = try fields.value("session") { SessionID($0) }
        refresh = try fields.value("refresh") { Digest($0) }
        expiresAt = try fields.time("expiresAt")
        device = try fields.value("device") { Digest($0) }
        isNewDevice = try fields.bool("isNewDevice")
        client = try fields.optional("client") { Ciphertext($0) }
    }

    var json: JSON {
        [
            "session": .string(session.text),
            "refresh": .string(refresh.base64url),
            "expiresAt": .string(expiresAt.rfc3339),
            "device": .string(device.base64url),
            "isNewDevice": .bool(isNewDevice),
            "client": .text(client?.base64url),
        ]
    }
}
