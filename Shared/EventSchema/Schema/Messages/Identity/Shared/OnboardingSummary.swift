import JSON

/// What may stand readable of an onboarding session in an answer, as of one event.
public struct OnboardingSummary: Hashable, Sendable {
    public var session: OnboardingSessionID
    /// What kind of identifier it is for.
    public var channel: Channel
    public var verifiedAt: Timestamp?
    public var expiresAt: Timestamp

    public init(session: OnboardingSessionID, channel: Channel, verifiedAt: Timestamp? = nil, expiresAt: Timestamp) {
        self.session = session
        self.channel = channel
        self.verifiedAt = verifiedAt
        self.expiresAt = expiresAt
    }

    init(fields: Fields) throws(SchemaError) {
        session = try fields.value("session") { OnboardingSessionID($0) }
        channel = try fields.choice("channel")
        verifiedAt = try fields.optionalTime("verifiedAt")
        expiresAt = try fields.time("expiresAt")
    }

    var json: JSON {
        [
            "session": .string(session.text),
            "channel": .string(channel.rawValue),
            "verifiedAt": .text(verifiedAt?.rfc3339),
            "expiresAt": .string(expiresAt.rfc3339),
        ]
    }
}
