/// What stands in `identity.checks`.
public enum IdentityCheck: MessageSet {
    case checkSignUp(CheckSignUp)
    case checkCompletion(CheckCompletion)
    case checkLogin(CheckLogin)
    case checkPasswordChange(CheckPasswordChange)
    case checkErasure(CheckErasure)
    case checkProfile(CheckProfile)
    case readUser(ReadUser)
    case readOnboarding(ReadOnboarding)
    case readSessions(ReadSessions)

    public static let types: [MessageType] = [
        .checkSignUp, .checkCompletion, .checkLogin, .checkPasswordChange, .checkErasure, .checkProfile, .readUser,
        .readOnboarding, .readSessions,
    ]

    public init?(type: MessageType, fields: Fields) throws(SchemaError) {
        switch type {
        case .checkSignUp: self = .checkSignUp(try CheckSignUp(fields: fields))
        case .checkCompletion: self = .checkCompletion(try CheckCompletion(fields: fields))
        case .checkLogin: self = .checkLogin(try CheckLogin(fields: fields))
        case .checkPasswordChange: self = .checkPasswordChange(try CheckPasswordChange(fields: fields))
        case .checkErasure: self = .checkErasure(try CheckErasure(fields: fields))
        case .checkProfile: self = .checkProfile(try CheckProfile(fields: fields))
        case .readUser: self = .readUser(try ReadUser(fields: fields))
        case .readOnboarding: self = .readOnboarding(try ReadOnboarding(fields: fields))
        case .readSessions: self = .readSessions(try ReadSessions(fields: fields))
        default: return nil
        }
    }

    public var message: any Message {
        switch self {
        case .checkSignUp(let message): message
        case .checkCompletion(let message): message
        case .checkLogin(let message): message
        case .checkPasswordChange(let message): message
        case .checkErasure(let message): message
        case .checkProfile(let message): message
        case .readUser(let message): message
        case .readOnboarding(let message): message
        case .readSessions(let message): message
        }
    }
}
