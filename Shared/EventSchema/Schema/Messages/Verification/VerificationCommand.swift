/// What stands in `verification.commands`.
public enum VerificationCommand: MessageSet {
    case issueCode(IssueCode)
    case confirmCode(ConfirmCode)
    case consumeResetToken(ConsumeResetToken)

    public static let types: [MessageType] = [.issueCode, .confirmCode, .consumeResetToken]

    public init?(type: MessageType, fields: Fields) throws(SchemaError) {
        switch type {
        case .issueCode: self = .issueCode(try IssueCode(fields: fields))
        case .confirmCode: self = .confirmCode(try ConfirmCode(fields: fields))
        case .consumeResetToken: self = .consumeResetToken(try ConsumeResetToken(fields: fields))
        default: return nil
        }
    }

    public var message: any Message {
        switch self {
        case .issueCode(let message): message
        case .confirmCode(let message): message
        case .consumeResetToken(let message): message
        }
    }
}
