public import Crypto
public import JSON

/// A used refresh token came again within the grace, and gave the same successor.
public struct RefreshRepeated: Message {
    public static let type = MessageType.refreshRepeated

    public var user: UserID
    public var session: SessionID
    /// The secret part of the answer, sealed to the waiting gateway process; `nil` where nobody waits.
    public var reply: Box?

    public init(user: UserID, session: SessionID, reply: Box? = nil) {
        self.user = user
        self.session = session
        self.reply = reply
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        session = try fields.value("session") { SessionID($0) }
        reply = try fields.optional("reply") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "session": .string(session.text),
            "reply": .text(reply?.encoded),
        ]
    }
}
