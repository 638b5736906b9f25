public import Crypto
public import JSON

/// Asks for the tokens after these.
public struct RefreshSession: Message {
    public static let type = MessageType.refreshSession

    /// The session that the token names.
    public var session: SessionID
    /// The refresh token, sealed to Identity.
    public var token: Box
    /// SHA-256 of the token.
    public var digest: Digest

    public init(session: SessionID, token: Box, digest: Digest) {
        self.session = session
        self.token = token
        self.digest = digest
    }

    public init(fields: Fields) throws(SchemaError) {
        session = try fields.value("session") { SessionID($0) }
        token = try fields.value("token") { Box(encoded: $0) }
        digest = try fields.value("digest") { Digest($0) }
    }

    public var json: JSON {
        [
            "session": .string(session.text),
            "token": .string(token.encoded),
            "digest": .string(digest.base64url),
        ]
    }
}
