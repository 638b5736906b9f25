public import JSON

/// Asks a check worker for what an onboarding session holds.
public struct ReadOnboarding: Message {
    public static let type = MessageType.readOnboarding

    public var session: OnboardingSessionID

    public init(session: OnboardingSessionID) {
        self.session = session
    }

    public init(fields: Fields) throws(SchemaError) {
        session = try fields.value("session") { OnboardingSessionID($0) }
    }

    public var json: JSON {
        [
            "session": .string(session.text)
        ]
    }
}
