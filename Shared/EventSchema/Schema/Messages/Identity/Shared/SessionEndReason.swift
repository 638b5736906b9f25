/// Why sessions ended.
public enum SessionEndReason: String, Sendable, CaseIterable {
    case logout
    case logoutAll = "logout-all"
    /// By the user, from another session.
    case revoked
    /// A used refresh token was presented: somebody has a copy.
    case reuse
}
