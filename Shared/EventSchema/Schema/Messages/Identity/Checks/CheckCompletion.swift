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

    public init(session: OnboardingSessionID, token: Box, digest: Digest) {
        self.session = session
        self.token = token
        self.digest = digest
    }

    public init(fields: Fields) throws(SchemaError) {
        session = try fields.value("session") { OnboardingSessionID($0) }
        token = try fields.value("token") { Box(encoded: $0) }
        digest = try fields.value("digest") { Digest($0) }
    }

    public var json: JSON {
        [
            "session": .string(session.text),
            "token": .string(token.encoded),
            "digest": .string(digest.base64url),
        ]
    }
}
