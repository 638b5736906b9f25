internal import EventSchema
internal import JSON

/// A user as a check worker sees them. One whose data key was destroyed is not there.
struct AccountRecord: Sendable {
    struct Identifier: Sendable {
        var subject: Subject
        var channel: Channel
        var encrypted: Ciphertext
        var verifiedAt: Timestamp?
    }

    var user: UserID
    var credentialVersion: Int64
    var profileVersion: Int64
    var isDisabled: Bool
    var createdAt: Timestamp
    var groups: [String]
    var key: DataKey
    var passwordHash: Ciphertext
    var profile: Ciphertext?
    var identifiers: [Identifier] = []

    var reference: AccountReference { AccountReference(user: user, credentialVersion: credentialVersion) }

    func verifiedAt(_ channel: Channel) -> Timestamp? {
        identifiers.compactMap { $0.channel == channel ? $0.verifiedAt : nil }.min()
    }

    var person: Person {
        func first(_ channel: Channel) -> String? {
            identifiers.first { $0.channel == channel }.flatMap { key.text($0.encrypted, .identifier) }
        }
        return Person(email: first(.email), phoneNumber: first(.sms), profile: key.object(profile))
    }

    var summary: UserSummary {
        UserSummary(
            user: user, createdAt: createdAt, emailVerifiedAt: verifiedAt(.email), phoneVerifiedAt: verifiedAt(.sms),
            groups: groups)
    }
}

/// An onboarding session that was not superseded and did not expire, with the key that is its user's once it is completed.
struct OnboardingRecord: Sendable {
    var session: OnboardingSessionID
    var channel: Channel
    var isCompleted: Bool
    var verifiedAt: Timestamp?
    var expiresAt: Timestamp
    var key: DataKey
    var profileVersion: Int64
    /// Those of the user, where it is completed.
    var identifier: Ciphertext?
    var profile: Ciphertext?

    var person: Person {
        let identifier = identifier.flatMap { key.text($0, .identifier) }
        return Person(
            email: channel == .email ? identifier : nil, phoneNumber: channel == .sms ? identifier : nil,
            profile: key.object(profile))
    }
}

/// A live session.
struct SessionRecord: Sendable {
    var session: SessionID
    var startedAt: Timestamp
    var refreshedAt: Timestamp
    var client: Ciphertext?
}

/// What answers say of a person, which stands nowhere readable.
struct Person: Equatable, Sendable {
    var email: String?
    var phoneNumber: String?
    var profile: JSONObject

    /// Goes into the object of the answer that the person is in.
    var json: JSON {
        [
            "email": email.map { .string($0) } ?? .null, "phoneNumber": phoneNumber.map { .string($0) } ?? .null,
            "profile": .object(profile),
        ]
    }
}

extension DataKey {
    func text(_ ciphertext: Ciphertext, _ field: PersonalField) -> String? {
        open(ciphertext, as: field).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A profile; an empty one where there is none.
    func object(_ profile: Ciphertext?) -> JSONObject {
        guard let profile, let bytes = open(profile, as: .profile), case .object(let object)? = try? JSON.parse(bytes) else {
            return [:]
        }
        return object
    }
}
