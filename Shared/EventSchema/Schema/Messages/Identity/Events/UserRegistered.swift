public import Crypto
public import JSON

/// There is a new user, who is signed in.
public struct UserRegistered: Message {
    public static let type = MessageType.userRegistered

    public var subject: Subject
    public var channel: Channel
    public var user: UserSummary
    /// Whether the password was set together with a code.
    public var proven: Bool
    /// `nil` where it is that of the completed onboarding session.
    public var data: PersonalData?
    /// The onboarding session that the user comes from.
    public var completed: OnboardingSessionID?
    /// The confirmation that it consumed.
    public var confirmation: MessageID?
    public var session: StartedSession
    /// The tokens, for the same completion again: encrypted under a key that the onboarding token gives, and sealed to Identity.
    public var successor: Box?
    /// The secret part of the answer, sealed to the waiting gateway process; `nil` where nobody waits.
    public var reply: Box?
    /// The person's data for the answer, sealed by the check worker to the waiting gateway process.
    public var person: Box?

    public init(
        subject: Subject, channel: Channel, user: UserSummary, proven: Bool, data: PersonalData? = nil,
        completed: OnboardingSessionID? = nil, confirmation: MessageID? = nil, session: StartedSession, successor: Box? = nil,
        reply: Box? = nil, person: Box? = nil
    ) {
        self.subject = subject
        self.channel = channel
        self.user = user
        self.proven = proven
        self.data = data
        self.completed = completed
        self.confirmation = confirmation
        self.session = session
        self.successor = successor
        self.reply = reply
        self.person = person
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        channel = try fields.choice("channel")
        user = try fields.object("user", UserSummary.init(fields:))
        proven = try fields.bool("proven")
        data = try fields.optionalObject("data", PersonalData.init(fields:))
        completed = try fields.optional("completed") { OnboardingSessionID($0) }
        confirmation = try fields.optional("confirmation") { MessageID($0) }
        session = try fields.object("session", StartedSession.init(fields:))
        successor = try fields.optional("successor") { Box(encoded: $0) }
        reply = try fields.optional("reply") { Box(encoded: $0) }
        person = try fields.optional("person") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "channel": .string(channel.rawValue),
            "user": user.json,
            "proven": .bool(proven),
            "data": data?.json ?? .null,
            "completed": .text(completed?.text),
            "confirmation": .text(confirmation?.text),
            "session": session.json,
            "successor": .text(successor?.encoded),
            "reply": .text(reply?.encoded),
            "person": .text(person?.encoded),
        ]
    }
}
