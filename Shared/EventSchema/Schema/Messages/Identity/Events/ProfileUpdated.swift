public import Crypto
public import JSON

/// The profile of a user or an onboarding session is another.
public struct ProfileUpdated: Message {
    public static let type = MessageType.profileUpdated

    public var target: ProfileTarget
    /// The whole profile as a JSON object.
    public var profile: Ciphertext
    /// Of the profile, from now on.
    public var version: Int64
    /// Of a user.
    public var user: UserSummary?
    /// Of an onboarding session.
    public var onboarding: OnboardingSummary?
    /// The person's data for the answer, sealed by the check worker to the waiting gateway process.
    public var person: Box?

    public init(
        target: ProfileTarget, profile: Ciphertext, version: Int64, user: UserSummary? = nil,
        onboarding: OnboardingSummary? = nil, person: Box? = nil
    ) {
        self.target = target
        self.profile = profile
        self.version = version
        self.user = user
        self.onboarding = onboarding
        self.person = person
    }

    public init(fields: Fields) throws(SchemaError) {
        target = try fields.object("target", ProfileTarget.init(fields:))
        profile = try fields.value("profile") { Ciphertext($0) }
        version = try fields.integer("version", in: 0...Int64.max)
        user = try fields.optionalObject("user", UserSummary.init(fields:))
        onboarding = try fields.optionalObject("onboarding", OnboardingSummary.init(fields:))
        person = try fields.optional("person") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "target": target.json,
            "profile": .string(profile.base64url),
            "version": .integer(version),
            "user": user?.json ?? .null,
            "onboarding": onboarding?.json ?? .null,
            "person": .text(person?.encoded),
        ]
    }
}
