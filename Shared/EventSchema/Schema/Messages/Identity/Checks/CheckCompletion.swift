public import Crypto
public import JSON

/// Asks a check worker to read what an onboarding session holds, and to pass its completion on.
public struct CheckCompletion: Message {
    public static let type = MessageType.checkCompletion

    public var session: OnboardingSessionID
    /// The onboarding token, sealed to Identity.
    public var token: Box
    /// SHA-256 of the token's text.
    public var digest: Digest
    /// Whether the identifier must have been verified (`SIGNUP_PROOF=required`).
    public var proofRequired: Bool

    public init(session: OnboardingSessionID, token: Box, digest: Digest, proofRequired: Bool) {
        self.session = session
        self.token = token
        self.digest = digest
        self.proofRequired = proofRequired
    }

    public init(fields: Fields) throws(SchemaError) {
        session = try fields.value("session") { OnboardingSessionID($0) }
        token = try fields.value("token") { Box(encoded: $0) }
        digest = try fields.value("digest") { Digest($0) }
        proofRequired = try fields.optionalBool("proofRequired") ?? false
    }

    public var json: JSON {
        var object: JSONObject = [
            "session": .string(session.text),
            "token": .string(token.encoded),
            "digest": .string(digest.base64url),
        ]
        // Came later than the rest: what does not ask for it is written as it always was.
        if proofRequired { object["proofRequired"] = true }
        return .object(object)
    }
}
