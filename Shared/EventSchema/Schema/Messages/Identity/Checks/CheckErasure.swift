public import Crypto
public import JSON

/// Asks a check worker to check the password of a user who wants to be erased.
public struct CheckErasure: Message {
    public static let type = MessageType.checkErasure

    public var user: UserID
    public var session: SessionID
    /// Sealed to Identity.
    public var password: Box

    public init(user: UserID, session: SessionID, password: Box) {
        self.user = user
        self.session = session
        self.password = password
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        session = try fields.value("session") { SessionID($0) }
        password = try fields.value("password") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "session": .string(session.text),
            "password": .string(password.encoded),
        ]
    }
}
