/// What stands in `verification.events`.
public enum VerificationEvent: MessageSet {
    case codeIssued(CodeIssued)
    case codeMissed(CodeMissed)
    case codeExhausted(CodeExhausted)
    case codeConfirmed(CodeConfirmed)
    case resetTokenIssued(ResetTokenIssued)
    case resetTokenConsumed(ResetTokenConsumed)

    public static let types: [MessageType] = [
        .codeIssued, .codeMissed, .codeExhausted, .codeConfirmed, .resetTokenIssued, .resetTokenConsumed,
    ]

    public init?(type: MessageType, fields: Fields) throws(SchemaError) {
        switch type {
        case .codeIssued: self = .codeIssued(try CodeIssued(fields: fields))
        case .codeMissed: self = .codeMissed(try CodeMissed(fields: fields))
        case .codeExhausted: self = .codeExhausted(try CodeExhausted(fields: fields))
        case .codeConfirmed: self = .codeConfirmed(try CodeConfirmed(fields: fields))
        case .resetTokenIssued: self = .resetTokenIssued(try ResetTokenIssued(fields: fields))
        case .resetTokenConsumed: self = .resetTokenConsumed(try ResetTokenConsumed(fields: fields))
        default: return nil
        }
    }

    public var message: any Message {
        switch self {
        case .codeIssued(let message): message
        case .codeMissed(let message): message
        case .codeExhausted(let message): message
        case .codeConfirmed(let message): message
        case .resetTokenIssued(let message): message
        case .resetTokenConsumed(let message): message
        }
    }
}
