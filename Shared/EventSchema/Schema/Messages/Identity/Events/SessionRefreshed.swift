public import Crypto
public import JSON

/// A refresh token was used for the first time; there is another one.
public struct SessionRefreshed: Message {
    public static let type = MessageType.sessionRefreshed

    public var user: UserID
    public var session: SessionID
    /// Of the new refresh token.
    public var refresh: Digest
    /// The new refresh token, encrypted under a key that the used one gives, and sealed to Identity.
    public var successor: Box
    /// The secret part of the answer, sealed to the waiting gateway process; `nil` where nobody waits.
    public var reply: Box?

    public init(user: UserID, session: SessionID, refresh: Digest, successor: Box, reply: Box? = nil) {
        self.user = user
        self.session = session
        self.refresh = refresh
        self.successor = successor
        self.reply = reply
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        session = try fields.value("session") { SessionID($0) }
        refresh = try fields.value("refresh") { Digest($0) }
        successor = try fields.value("successor") { Box(encoded: $0) }
        reply = try fields.optional("reply") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "session": .string(session.text),
            "refresh": .string(refresh.base64url),
            "successor": .string(successor.encoded),
            "reply": .text(reply?.encoded),
        ]
    }
}
