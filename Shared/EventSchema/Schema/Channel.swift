/// What a message to a person goes through.
public enum Channel: String, Sendable, CaseIterable {
    case email, sms
}
