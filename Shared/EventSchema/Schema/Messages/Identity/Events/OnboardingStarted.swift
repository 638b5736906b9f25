public import Crypto
public import JSON

/// There is a new onboarding session.
public struct OnboardingStarted: Message {
    public static let type = MessageType.onboardingStarted

    public var subject: Subject
    public var channel: Channel
    public var session: OnboardingSessionID
    public var data: PersonalData
    public var expiresAt: Timestamp
    public var verifiedAt: Timestamp?
    public var proof: SignUpProof
    /// The confirmation that it consumed.
    public var confirmation: MessageID?
    /// Older sessions for the identifier that ended with it; their data keys are destroyed.
    public var superseded: [OnboardingSessionID]
    /// To be sent: the identifier has an account, which is not owned up to.
    public var notice: Notice?
    /// The secret part of the answer, sealed to the waiting gateway process; `nil` where nobody waits.
    public var reply: Box?

    public init(
        subject: Subject, channel: Channel, session: OnboardingSessionID, data: PersonalData, expiresAt: Timestamp,
        verifiedAt: Timestamp? = nil, proof: SignUpProof, confirmation: MessageID? = nil, superseded: [OnboardingSessionID],
        notice: Notice? = nil, reply: Box? = nil
    ) {
        self.subject = subject
        self.channel = channel
        self.session = session
        self.data = data
        self.expiresAt = expiresAt
        self.verifiedAt = verifiedAt
        self.proof = proof
        self.confirmation = confirmation
        self.superseded = superseded
        self.notice = notice
        self.reply = reply
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        channel = try fields.choice("channel")
        session = try fields.value("session") { OnboardingSessionID($0) }
        data = try fields.object("data", PersonalData.init(fields:))
        expiresAt = try fields.time("expiresAt")
        verifiedAt = try fields.optionalTime("verifiedAt")
        proof = try fields.choice("proof")
        confirmation = try fields.optional("confirmation") { MessageID($0) }
        superseded = try fields.list("superseded") { OnboardingSessionID($0) }
        notice = try fields.optionalObject("notice", Notice.init(fields:))
        reply = try fields.optional("reply") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "channel": .string(channel.rawValue),
            "session": .string(session.text),
            "data": data.json,
            "expiresAt": .string(expiresAt.rfc3339),
            "verifiedAt": .text(verifiedAt?.rfc3339),
            "proof": .string(proof.rawValue),
            "confirmation": .text(confirmation?.text),
            "superseded": .array(superseded.map { .string($0.text) }),
            "notice": notice?.json ?? .null,
            "reply": .text(reply?.encoded),
        ]
    }
}
