public import Crypto
public import JSON

/// A completion came again and gave the same refresh token.
public struct CompletionRepeated: Message {
    public static let type = MessageType.completionRepeated

    public var completed: OnboardingSessionID
    public var user: UserSummary
    public var session: SessionID
    /// The secret part of the answer, sealed to the waiting gateway process; `nil` where nobody waits.
    public var reply: Box?
    /// The person's data for the answer, sealed by the check worker to the waiting gateway process.
    public var person: Box?

    public init(completed: OnboardingSessionID, user: UserSummary, session: SessionID, reply: Box? = nil, person: Box? = nil) {
        self.completed = completed
        self.user = user
        self.session = session
        self.reply = reply
        self.person = person
    }

    public init(fields: Fields) throws(SchemaError) {
        completed = try fields.value("completed") { OnboardingSessionID($0) }
        user = try fields.object("user", UserSummary.init(fields:))
        session = try fields.value("session") { SessionID($0) }
        reply = try fields.optional("reply") { Box(encoded: $0) }
        person = try fields.optional("person") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "completed": .string(completed.text),
            "user": user.json,
            "session": .string(session.text),
            "reply": .text(reply?.encoded),
            "person": .text(person?.encoded),
        ]
    }
}
