/// What stands in `identity.commands`.
public enum IdentityCommand: MessageSet {
    case startOnboarding(StartOnboarding)
    case completeOnboarding(CompleteOnboarding)
    case register(Register)
    case logIn(LogIn)
    case refreshSession(RefreshSession)
    case endSession(EndSession)
    case endAllSessions(EndAllSessions)
    case changePassword(ChangePassword)
    case eraseUser(EraseUser)
    case updateProfile(UpdateProfile)
    case finishReset(FinishReset)
    case disableUser(DisableUser)
    case enableUser(EnableUser)
    case setGroups(SetGroups)
    case importUser(ImportUser)

    public static let types: [MessageType] = [
        .startOnboarding, .completeOnboarding, .register, .logIn, .refreshSession, .endSession, .endAllSessions, .changePassword,
        .eraseUser, .updateProfile, .finishReset, .disableUser, .enableUser, .setGroups, .importUser,
    ]

    public init?(type: MessageType, fields: Fields) throws(SchemaError) {
        switch type {
        case .startOnboarding: self = .startOnboarding(try StartOnboarding(fields: fields))
        case .completeOnboarding: self = .completeOnboarding(try CompleteOnboarding(fields: fields))
        case .register: self = .register(try Register(fields: fields))
        case .logIn: self = .logIn(try LogIn(fields: fields))
        case .refreshSession: self = .refreshSession(try RefreshSession(fields: fields))
        case .endSession: self = .endSession(try EndSession(fields: fields))
        case .endAllSessions: self = .endAllSessions(try EndAllSessions(fields: fields))
        case .changePassword: self = .changePassword(try ChangePassword(fields: fields))
        case .eraseUser: self = .eraseUser(try EraseUser(fields: fields))
        case .updateProfile: self = .updateProfile(try UpdateProfile(fields: fields))
        case .finishReset: self = .finishReset(try FinishReset(fields: fields))
        case .disableUser: self = .disableUser(try DisableUser(fields: fields))
        case .enableUser: self = .enableUser(try EnableUser(fields: fields))
        case .setGroups: self = .setGroups(try SetGroups(fields: fields))
        case .importUser: self = .importUser(try ImportUser(fields: fields))
        default: return nil
        }
    }

    public var message: any Message {
        switch self {
        case .startOnboarding(let message): message
        case .completeOnboarding(let message): message
        case .register(let message): message
        case .logIn(let message): message
        case .refreshSession(let message): message
        case .endSession(let message): message
        case .endAllSessions(let message): message
        case .changePassword(let message): message
        case .eraseUser(let message): message
        case .updateProfile(let message): message
        case .finishReset(let message): message
        case .disableUser(let message): message
        case .enableUser(let message): message
        case .setGroups(let message): message
        case .importUser(let message): message
        }
    }
}
