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
    /// By identifier and purpose. What is over is not refused: the command is marked, and nothing is sent.
    case dailySends = "DAILY_SENDS"

    /// The setting that changes it, or switches it off.
    public var variable: String { "LIMIT_\(rawValue)" }

    /// What the contract says.
    public var standard: Rate {
        switch self {
        case .forgotPassword: Rate(5, per: .seconds(3_600))
        case .verifyResetCode: Rate(10, per: .seconds(3_600))
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
        case .dailySends: "Codes sent per identifier and purpose, or off."
        }
    }
}
