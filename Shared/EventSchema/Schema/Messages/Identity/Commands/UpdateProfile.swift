public import Crypto
public import JSON

/// Asks to put a profile in the place of another.
public struct UpdateProfile: Message {
    public static let type = MessageType.updateProfile

    public var target: ProfileTarget
    /// The whole profile as a JSON object.
    public var profile: Ciphertext
    /// The version that the changes were merged into; a change of it since makes the command stale.
    public var profileVersion: Int64
    /// The person's data for the answer, sealed by the check worker to the waiting gateway process.
    public var person: Box?

    public init(target: ProfileTarget, profile: Ciphertext, profileVersion: Int64, person: Box? = nil) {
        self.target = target
        self.profile = profile
        self.profileVersion = profileVersion
        self.person = person
    }

    public init(fields: Fields) throws(SchemaError) {
        target = try fields.object("target", ProfileTarget.init(fields:))
        profile = try fields.value("profile") { Ciphertext($0) }
        profileVersion = try fields.integer("profileVersion", in: 0...Int64.max)
        person = try fields.optional("person") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "target": target.json,
            "profile": .string(profile.base64url),
            "profileVersion": .integer(profileVersion),
            "person": .text(person?.encoded),
        ]
    }
}
