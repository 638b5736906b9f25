internal import EventSchema
internal import JSON

/// What answers say readable of users and onboarding sessions; the rest is sealed to the gateway.
extension UserSummary {
    var answer: JSON {
        [
            "id": .string(user.text), "emailVerifiedAt": .time(emailVerifiedAt), "phoneVerifiedAt": .time(phoneVerifiedAt),
            "createdAt": .time(createdAt), "groups": .array(groups.map { .string($0) }),
        ]
    }
}

extension OnboardingSummary {
    /// Of one that is active.
    var answer: JSON {
        [
            "id": .string(session.text), "status": "ACTIVE",
            channel == .email ? "emailVerifiedAt" : "phoneVerifiedAt": .time(verifiedAt), "expiresAt": .time(expiresAt),
        ]
    }
}

extension JSON {
    fileprivate static func time(_ time: Timestamp?) -> JSON { time.map { .string($0.rfc3339) } ?? .null }
}
