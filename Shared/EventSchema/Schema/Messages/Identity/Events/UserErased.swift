public import JSON

/// A user is erased: the data key is destroyed, the identifiers are free.
public struct UserErased: Message {
    public static let type = MessageType.userErased

    public var user: UserID
    /// The identifiers.
    public var subjects: [Subject]
    /// The sessions that ended with it.
    public var ended: [SessionID]

    public init(user: UserID, subjects: [Subject], ended: [SessionID]) {
        self.user = user
        self.subjects = subjects
        self.ended = ended
    }

    public init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        subjects = try fields.list("subjects") { Subject($0) }
        ended = try fields.list("ended") { SessionID($0) }
    }

    public var json: JSON {
        [
            "user": .string(user.text),
            "subjects": .array(subjects.map { .string($0.base64url) }),
            "ended": .array(ended.map { .string($0.text) }),
        ]
    }
}
