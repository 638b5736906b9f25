internal import EventLog
internal import EventSchema
internal import Identifiers
internal import JSON

/// Whose events are wanted, and where they can be.
enum HistoryScope: Sendable {
    case everything
    /// All about an identifier, and about the users who had it.
    case identifier(Subject)
    /// All about a user and the user's identifiers, and nothing that names another user. The keys are those of the places where
    /// the user and the identifiers belong.
    case user(UserID, Set<RoutingKey>)

    /// A user id, e-mail address or phone number; `nil` for anything else.
    init?(_ name: String, _ routing: Routing) {
        if let user = UserID(name) {
            self = .user(user, [routing.routingKey(of: user)])
        } else if let identifier = (try? Identifier(name, for: .email)) ?? (try? Identifier(name, for: .sms)) {
            self = .identifier(identifier.subject(by: routing))
        } else {
            return nil
        }
    }

    /// The partitions that may hold such events.
    func partitions(among count: Int) -> [Int] {
        switch self {
        case .everything: Array(0..<count)
        case .identifier(let subject): [subject.routingKey.partition(among: count)]
        case .user(_, let keys): Set(keys.map { $0.partition(among: count) }).sorted()
        }
    }

    func takes(_ event: EventEnvelope) -> Bool {
        switch self {
        case .everything: return true
        case .identifier(let subject): return event.key == subject.routingKey.bytes
        case .user(let user, let keys):
            guard let key = RoutingKey(bytes: event.key), keys.contains(key) else { return false }
            let users = EventNames(event).users
            return users.isEmpty || users.contains(user)
        }
    }
}

/// Whom an event names. It knows the members by which types name users, and not the types, so that new ones are covered.
struct EventNames {
    private(set) var users: Set<UserID> = []
    private(set) var subjects: Set<Subject> = []
    private(set) var onboarding: Set<OnboardingSessionID> = []

    init(_ event: EventEnvelope) {
        if let subject = event.body.subject { note(subject, as: subject.utf8.count == 22 ? "subject" : "id") }
        if let json = try? JSON.parse(event.body.data) { look(at: json) }
    }

    private mutating func look(at json: JSON) {
        guard let object = json.object else { return }
        for (name, value) in object {
            switch value {
            case .string(let text): note(text, as: name)
            case .array(let items): for case .string(let text) in items { note(text, as: name) }
            case .object:
                // An onboarding session's id has the form of a user's.
                if name == "target", value["kind"]?.string == "onboarding" {
                    note(value["id"]?.string ?? "", as: "completed")
                } else if name == "target" {
                    note(value["id"]?.string ?? "", as: "user")
                } else {
                    look(at: value)
                }
            default: break
            }
        }
    }

    private mutating func note(_ text: String, as name: String) {
        switch name {
        case "user": if let user = UserID(text) { users.insert(user) }
        case "subject", "subjects": if let subject = Subject(text) { subjects.insert(subject) }
        case "completed": if let session = OnboardingSessionID(text) { onboarding.insert(session) }
        default: break
        }
    }
}
