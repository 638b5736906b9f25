import JSON

/// Whose profile.
public enum ProfileTarget: Hashable, Sendable {
    case user(UserID)
    case onboarding(OnboardingSessionID)

    init(fields: Fields) throws(SchemaError) {
        switch try fields.string("kind") {
        case "user": self = .user(try fields.value("id") { UserID($0) })
        case "onboarding": self = .onboarding(try fields.value("id") { OnboardingSessionID($0) })
        default: throw fields.malformed("kind")
        }
    }

    var json: JSON {
        switch self {
        case .user(let id): ["kind": "user", "id": .string(id.text)]
        case .onboarding(let id): ["kind": "onboarding", "id": .string(id.text)]
        }
    }
}
