/// Why somebody gets a message: a code for some purpose, or a notice of what was done.
public enum Occasion: String, Sendable, CaseIterable {
    case emailVerification = "email_verification"
    case passwordReset = "password_reset"
    case phoneVerification = "phone_verification"
    /// The password of the account with this address was reset.
    case passwordWasReset = "password_was_reset"
    /// Somebody signs up with the address of an account.
    case signUpAttempted = "sign_up_attempted"

    public init(_ purpose: Purpose) {
        switch purpose {
        case .emailVerification: self = .emailVerification
        case .passwordReset: self = .passwordReset
        case .phoneVerification: self = .phoneVerification
        }
    }

    /// What the code in the message is for; `nil` for a notice, which has none.
    public var purpose: Purpose? {
        switch self {
        case .emailVerification: .emailVerification
        case .passwordReset: .passwordReset
        case .phoneVerification: .phoneVerification
        case .passwordWasReset, .signUpAttempted: nil
        }
    }

    /// The one channel that messages on this occasion go through.
    public var channel: Channel { purpose?.channel ?? .email }
}
