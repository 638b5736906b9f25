/// What a check worker found.
public enum PasswordVerdict: String, Sendable, CaseIterable {
    case right
    /// Also a login's where there is no account, or a disabled one.
    case wrong
    /// Nothing was checked: logins were blocked, or who is signed in has no account any more.
    case unchecked
}
