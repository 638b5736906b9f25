/// What stands in `identity.events`.
public enum IdentityEvent: MessageSet {
    case contactVerified(ContactVerified)
    case onboardingStarted(OnboardingStarted)
    case onboardingExpired(OnboardingExpired)
    case profileUpdated(ProfileUpdated)
    case userRegistered(UserRegistered)
    case completionRepeated(CompletionRepeated)
    case sessionStarted(SessionStarted)
    case loginFailed(LoginFailed)
    case sessionRefreshed(SessionRefreshed)
    case refreshRepeated(RefreshRepeated)
    case sessionsEnded(SessionsEnded)
    case passwordChanged(PasswordChanged)
    case passwordCheckFailed(PasswordCheckFailed)
    case passwordReset(PasswordReset)
    case userErased(UserErased)
    case userDisabled(UserDisabled)
    case userEnabled(UserEnabled)
    case groupsChanged(GroupsChanged)
    case userImported(UserImported)

    public static let types: [MessageType] = [
        .contactVerified, .onboardingStarted, .onboardingExpired, .profileUpdated, .userRegistered, .completionRepeated,
        .sessionStarted, .loginFailed, .sessionRefreshed, .refreshRepeated, .sessionsEnded, .passwordChanged,
        .passwordCheckFailed, .passwordReset, .userErased, .userDisabled, .userEnabled, .groupsChanged, .userImported,
    ]

    public init?(type: MessageType, fields: Fields) throws(SchemaError) {
        switch type {
        case .contactVerified: self = .contactVerified(try ContactVerified(fields: fields))
        case .onboardingStarted: self = .onboardingStarted(try OnboardingStarted(fields: fields))
        case .onboardingExpired: self = .onboardingExpired(try OnboardingExpired(fields: fields))
        case .profileUpdated: self = .profileUpdated(try ProfileUpdated(fields: fields))
        case .userRegistered: self = .userRegistered(try UserRegistered(fields: fields))
        case .completionRepeated: self = .completionRepeated(try CompletionRepeated(fields: fields))
        case .sessionStarted: self = .sessionStarted(try SessionStarted(fields: fields))
        case .loginFailed: self = .loginFailed(try LoginFailed(fields: fields))
        case .sessionRefreshed: self = .sessionRefreshed(try SessionRefreshed(fields: fields))
        case .refreshRepeated: self = .refreshRepeated(try RefreshRepeated(fields: fields))
        case .sessionsEnded: self = .sessionsEnded(try SessionsEnded(fields: fields))
        case .passwordChanged: self = .passwordChanged(try PasswordChanged(fields: fields))
        case .passwordCheckFailed: self = .passwordCheckFailed(try PasswordCheckFailed(fields: fields))
        case .passwordReset: self = .passwordReset(try PasswordReset(fields: fields))
        case .userErased: self = .userErased(try UserErased(fields: fields))
        case .userDisabled: self = .userDisabled(try UserDisabled(fields: fields))
        case .userEnabled: self = .userEnabled(try UserEnabled(fields: fields))
        case .groupsChanged: self = .groupsChanged(try GroupsChanged(fields: fields))
        case .userImported: self = .userImported(try UserImported(fields: fields))
        default: return nil
        }
    }

    public var message: any Message {
        switch self {
        case .contactVerified(let message): message
        case .onboardingStarted(let message): message
        case .onboardingExpired(let message): message
        case .profileUpdated(let message): message
        case .userRegistered(let message): message
        case .completionRepeated(let message): message
        case .sessionStarted(let message): message
        case .loginFailed(let message): message
        case .sessionRefreshed(let message): message
        case .refreshRepeated(let message): message
        case .sessionsEnded(let message): message
        case .passwordChanged(let message): message
        case .passwordCheckFailed(let message): message
        case .passwordReset(let message): message
        case .userErased(let message): message
        case .userDisabled(let message): message
        case .userEnabled(let message): message
        case .groupsChanged(let message): message
        case .userImported(let message): message
        }
    }
}
