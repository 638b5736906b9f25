public import Crypto
public import JSON

/// Asks to make a user of an onboarding session, and to sign them in.
public struct CompleteOnboarding: Message {
    public static let type = MessageType.completeOnboarding

    public var session: OnboardingSessionID
    /// The onboarding token, sealed to Identity.
    public var token: Box
    /// SHA-256 of the token's text.
    public var digest: Digest
    /// Whether the identifier must have been verified.
    public var proofRequired: Bool
    /// The version of the profile that `person` shows; a change of it since makes the command stale.
    public var profileVersion: Int64
    /// Client address and user agent, encrypted under the user's data key.
    public var client: Ciphertext?
    /// The person's data for the answer, sealed by the check worker to the waiting gateway process.
    public var person: Box?

    public init(
        session: OnboardingSessionID, token: Box, digest: Digest, proofRequired: Bool, profileVersion: Int64,
        client: Ciphertext? = nil, person: Box? = nil
    ) {
        self.session = session
        self.token = token
        self.digest = digest
        self.proofRequired = proofRequired
        self.profileVersion = profileVersion
        self.client = client
        self.person = person
    }

    public init(fields: Fields) throws(SchemaError) {
        session = try fields.value("session") { OnboardingSessionID($0) }
        token = try fields.value("token") { Box(encoded: $0) }
        digest = try fields.value("digest") { Digest($0) }
        proofRequired = try fields.bool("proofRequired")
        profileVersion = try fields.integer("profileVersion", in: 0...Int64.max)
        client = try fields.optional("client") { Ciphertext($0) }
        person = try fields.optional("person") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "session": .string(session.text),
            "token": .string(token.encoded),
            "digest": .string(digest.base64url),
            "proofRequired": .bool(proofRequired),
            "profileVersion": .integer(profileVersion),
            "client": .text(client?.base64url),
            "person": .text(person?.encoded),
        ]
    }
}
