/// What a user gives the password for who is signed in.
public enum PasswordUse: String, Sendable, CaseIterable {
    case changePassword = "change-password"
    case erase
}
