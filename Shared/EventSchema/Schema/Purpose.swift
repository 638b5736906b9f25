/// What a one-time code is for.
public enum Purpose: String, Sendable, CaseIterable {
    case emailVerification = "email_verification"
    case passwordReset = "password_reset"
    case phoneVerification = "phone_verification"

    /// The one channel that codes for this purpose go through.
    public var channel: Channel {
        switch self {
        case .emailVerification, .passwordReset: .email
        case .phoneVerification: .sms
        }
    }
}
