public import Crypto
public import JSON

/// Somebody has logged in.
public struct SessionStarted: Message {
    public static let type = MessageType.sessionStarted

    public var subject: Subject
    public var user: UserSummary
    public var session: StartedSession
    /// The hash of the same password at the present cost.
    public var rehash: Ciphertext?
    /// The oldest sessions, where there were too many.
    public var ended: [SessionID]
    /// The oldest devices, where there were too many.
    public var droppedDevices: [Digest]
    /// The secret part of the answer, sealed to the waiting gateway process; `nil` where nobody waits.
    public var reply: Box?
    /// The person's data for the answer, sealed by the check worker to the waiting gateway process.
    public var person: Box?

    public init(
        subject: Subject, user: UserSummary, session: StartedSession, rehash: Ciphertext? = nil, ended: [SessionID],
        droppedDevices: [Digest], reply: Box? = nil, person: Box? = nil
    ) {
        self.subject = subject
        self.user = user
        self.session = session
        self.rehash = rehash
        self.ended = ended
        self.droppedDevices = droppedDevices
        self.reply = reply
        self.person = person
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        user = try fields.object("user", UserSummary.init(fields:))
        session = try fields.object("session", StartedSession.init(fields:))
        rehash = try fields.optional("rehash") { Ciphertext($0) }
        ended = try fields.list("ended") { SessionID($0) }
        droppedDevices = try fields.list("droppedDevices") { Digest($0) }
        reply = try fields.optional("reply") { Box(encoded: $0) }
        person = try fields.optional("person") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "user": user.json,
            "session": session.json,
            "rehash": .text(rehash?.base64url),
            "ended": .array(ended.map { .string($0.text) }),
            "droppedDevices": .array(droppedDevices.map { .string($0.base64url) }),
            "reply": .text(reply?.encoded),
            "person": .text(person?.encoded),
        ]
    }
}
