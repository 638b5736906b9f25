/// What a check worker found.
public enum PasswordVerdict: String, Sendable, CaseIterable {
    case right
    /// Also where there is no account, or a disabled one.
    case wrong
    /// Nothing was checked: logins were blocked.
    case unchecked
}
