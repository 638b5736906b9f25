/// What a sign-up makes.
public enum SignUpKind: String, Sendable, CaseIterable {
    /// A session that is completed later.
    case onboarding
    /// A user at once.
    case register
}
