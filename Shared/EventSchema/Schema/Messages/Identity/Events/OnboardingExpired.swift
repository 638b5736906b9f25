public import JSON

/// Onboarding sessions were not completed in time; their data keys are destroyed.
public struct OnboardingExpired: Message {
    public static let type = MessageType.onboardingExpired

    /// The identifier of all of them.
    public var subject: Subject
    /// One or more.
    public var sessions: [OnboardingSessionID]

    public init(subject: Subject, sessions: [OnboardingSessionID]) {
        self.subject = subject
        self.sessions = sessions
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        sessions = try fields.list("sessions") { OnboardingSessionID($0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "sessions": .array(sessions.map { .string($0.text) }),
        ]
    }
}
