public import Crypto
public import JSON

/// Asks a check worker to check the password of a user who is signed in, and to hash the next one.
public struct CheckPasswordChange: Message {
    public static let type = MessageType.checkPasswordChange

    public var user: UserID
    public var session: SessionID
    /// Sealed to Identity.
    public var current: Box
    /// Sealed to Identity.
    public var new: Box

    public init(user: UserID, session: SessionID, current: Box, new: Box) {
        self.user = user
        self.session = session
        self.current = current
        self.new = new
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        session = try fields.value("session") { SessionID($0) }
        current = try fields.value("current") { Box(encoded: $0) }
        new = try fields.value("new") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "session": .string(session.text),
            "current": .string(current.encoded),
            "new": .string(new.encoded),
        ]
    }
}
