public import JSON

/// Onboarding sessions were not completed in time; their data keys are destroyed.
public struct OnboardingExpired: Message {
    public static let type = MessageType.onboardingExpired

    /// One or more.
    public var sessions: [OnboardingSessionID]

    public init(sessions: [OnboardingSessionID]) {
        self.sessions = sessions
    }

    public init(fields: Fields) throws(SchemaError) {
        sessions = try fields.list("sessions") { OnboardingSessionID($0) }
    }

    public var json: JSON {
        [
            "sessions": .array(sessions.map { .string($0.text) })
        ]
    }
}
