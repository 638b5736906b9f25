public import JSON

/// Somebody has proven that an address or number is theirs. All that the proof did is said here.
public struct ContactVerified: Message {
    public static let type = MessageType.contactVerified

    public var subject: Subject
    public var channel: Channel
    public var verifiedAt: Timestamp
    /// The user who has the identifier, if there is one. A stamp that stood before is not moved.
    public var user: UserID?
    /// The active onboarding sessions with the identifier that were stamped.
    public var sessions: [OnboardingSessionID]
    /// How long the next onboarding session for the identifier may consume the proof; `nil` where none is to wait for it.
    public var flagUntil: Timestamp?
    /// The `code-confirmed` event that this follows from.
    public var confirmation: MessageID
    /// The command that confirmed the code; `nil` where it is not known. A sign-up with a code of its own names it.
    public var command: MessageID?

    public init(
        subject: Subject, channel: Channel, verifiedAt: Timestamp, user: UserID?, sessions: [OnboardingSessionID],
        flagUntil: Timestamp?, confirmation: MessageID, command: MessageID? = nil
    ) {
        self.subject = subject
        self.channel = channel
        self.verifiedAt = verifiedAt
        self.user = user
        self.sessions = sessions
        self.flagUntil = flagUntil
        self.confirmation = confirmation
        self.command = command
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        channel = try fields.choice("channel")
        verifiedAt = try fields.time("verifiedAt")
        user = try fields.optional("user") { UserID($0) }
        sessions = try fields.list("sessions") { OnboardingSessionID($0) }
        flagUntil = try fields.optionalTime("flagUntil")
        confirmation = try fields.value("confirmation") { MessageID($0) }
        command = try fields.optional("command") { MessageID($0) }
    }

    public var json: JSON {
        var object: JSONObject = [
            "subject": .string(subject.base64url),
            "channel": .string(channel.rawValue),
            "verifiedAt": .string(verifiedAt.rfc3339),
            "user": .text(user?.text),
            "sessions": .array(sessions.map { .string($0.text) }),
            "flagUntil": .text(flagUntil?.rfc3339),
            "confirmation": .string(confirmation.text),
        ]
        // Came later than the rest: what has none is written as it always was.
        if let command { object["command"] = .string(command.text) }
        return .object(object)
    }
}
