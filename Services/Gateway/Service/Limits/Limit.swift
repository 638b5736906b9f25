public import Runtime

/// A budget that the contract sets, over all gateways together.
public enum Limit: String, Sendable, CaseIterable {
    /// By client address: `forgot-password`, and `send` with `password_reset`.
    case forgotPassword = "FORGOT_PASSWORD"
    /// By client address: `verify-reset-code`, and `confirm` with `password_reset`.
    case verifyResetCode = "VERIFY_RESET_CODE"
    /// By client address: every other `send`.
    case send = "SEND"
    /// By client address: every other `confirm`.
    case confirm = "CONFIRM"
    /// By client address: `reset-password`.
    case resetPassword = "RESET_PASSWORD"
    /// By client address: new onboarding sessions and `register`.
    case signUp = "SIGN_UP"
    /// By client address: answers that tell of an account. Past them every answer of a sign-up is refused.
    case accountExists = "ACCOUNT_EXISTS"
    /// By client address.
    case login = "LOGIN"
    /// By client address.
    case refresh = "REFRESH"
    /// By identifier and purpose. What is over is not refused: the command is marked, and nothing is sent.
    case dailySends = "DAILY_SENDS"

    /// The setting that changes it, or switches it off.
    public var variable: String { "LIMIT_\(rawValue)" }

    /// What the contract says.
    public var standard: Rate {
        switch self {
        case .forgotPassword: Rate(5, per: .seconds(3_600))
        case .verifyResetCode, .resetPassword, .accountExists: Rate(10, per: .seconds(3_600))
        case .signUp: Rate(20, per: .seconds(3_600))
        case .login: Rate(30, per: .seconds(900))
        case .refresh: Rate(120, per: .seconds(60))
        case .send: Rate(20, per: .seconds(900))
        case .confirm: Rate(30, per: .seconds(900))
        case .dailySends: Rate(20, per: .seconds(86_400))
        }
    }

    /// For `--help`.
    public var summary: String {
        switch self {
        case .forgotPassword: "Requests for a password reset code per client address, or off."
        case .verifyResetCode: "Checks of a password reset code per client address, or off."
        case .send: "Requests for a verification code per client address, or off."
        case .confirm: "Checks of a verification code per client address, or off."
        case .resetPassword: "Password resets per client address, or off."
        case .signUp: "Sign-ups per client address, or off."
        case .accountExists: "Sign-ups per client address that are told of an account, or off."
        case .login: "Logins per client address, or off."
        case .refresh: "Refreshes of tokens per client address, or off."
        case .dailySends: "Codes sent per identifier and purpose, or off."
        }
    }
}
