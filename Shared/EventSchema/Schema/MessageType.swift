/// Every type of message that is written now, by its explicit, versioned name. Names are part of the log for ever and
/// independent of Swift's; older versions are read through ``Upcasters``.
public enum MessageType: String, Sendable, CaseIterable {
    // verification.commands
    case issueCode = "latchkey.verification.issue-code.v1"
    case confirmCode = "latchkey.verification.confirm-code.v1"
    case consumeResetToken = "latchkey.verification.consume-reset-token.v1"

    // verification.events
    case codeIssued = "latchkey.verification.code-issued.v1"
    case codeMissed = "latchkey.verification.code-missed.v1"
    case codeExhausted = "latchkey.verification.code-exhausted.v1"
    case codeConfirmed = "latchkey.verification.code-confirmed.v1"
    case resetTokenIssued = "latchkey.verification.reset-token-issued.v1"
    case resetTokenConsumed = "latchkey.verification.reset-token-consumed.v1"

    // identity.checks
    case checkSignUp = "latchkey.identity.check-sign-up.v1"
    case checkCompletion = "latchkey.identity.check-completion.v1"
    case checkLogin = "latchkey.identity.check-login.v1"
    case checkPasswordChange = "latchkey.identity.check-password-change.v1"
    case checkErasure = "latchkey.identity.check-erasure.v1"
    case checkProfile = "latchkey.identity.check-profile.v1"
    case readUser = "latchkey.identity.read-user.v1"
    case readOnboarding = "latchkey.identity.read-onboarding.v1"
    case readSessions = "latchkey.identity.read-sessions.v1"

    // identity.commands
    case startOnboarding = "latchkey.identity.start-onboarding.v1"
    case completeOnboarding = "latchkey.identity.complete-onboarding.v1"
    case register = "latchkey.identity.register.v1"
    case logIn = "latchkey.identity.log-in.v1"
    case refreshSession = "latchkey.identity.refresh-session.v1"
    case endSession = "latchkey.identity.end-session.v1"
    case endAllSessions = "latchkey.identity.end-all-sessions.v1"
    case changePassword = "latchkey.identity.change-password.v1"
    case eraseUser = "latchkey.identity.erase-user.v1"
    case updateProfile = "latchkey.identity.update-profile.v1"
    case finishReset = "latchkey.identity.finish-reset.v1"
    case disableUser = "latchkey.identity.disable-user.v1"
    case enableUser = "latchkey.identity.enable-user.v1"
    case setGroups = "latchkey.identity.set-groups.v1"
    case importUser = "latchkey.identity.import-user.v1"

    // identity.events
    case contactVerified = "latchkey.identity.contact-verified.v1"
    case onboardingStarted = "latchkey.identity.onboarding-started.v1"
    case onboardingExpired = "latchkey.identity.onboarding-expired.v1"
    case profileUpdated = "latchkey.identity.profile-updated.v1"
    case userRegistered = "latchkey.identity.user-registered.v1"
    case completionRepeated = "latchkey.identity.completion-repeated.v1"
    case sessionStarted = "latchkey.identity.session-started.v1"
    case loginFailed = "latchkey.identity.login-failed.v1"
    case sessionRefreshed = "latchkey.identity.session-refreshed.v1"
    case refreshRepeated = "latchkey.identity.refresh-repeated.v1"
    case sessionsEnded = "latchkey.identity.sessions-ended.v1"
    case passwordChanged = "latchkey.identity.password-changed.v1"
    case passwordCheckFailed = "latchkey.identity.password-check-failed.v1"
    case passwordReset = "latchkey.identity.password-reset.v1"
    case userErased = "latchkey.identity.user-erased.v1"
    case userDisabled = "latchkey.identity.user-disabled.v1"
    case userEnabled = "latchkey.identity.user-enabled.v1"
    case groupsChanged = "latchkey.identity.groups-changed.v1"
    case userImported = "latchkey.identity.user-imported.v1"

    // notifier.commands
    case retryDelivery = "latchkey.notifier.retry-delivery.v1"

    // notifier.events
    case deliveryAttempted = "latchkey.notifier.delivery-attempted.v1"
    case delivered = "latchkey.notifier.delivered.v1"
    case deliveryFailed = "latchkey.notifier.delivery-failed.v1"
    case deliveryUnknown = "latchkey.notifier.delivery-unknown.v1"
    case deliveryExpired = "latchkey.notifier.delivery-expired.v1"

    // replies
    case reply = "latchkey.reply.v1"

    // keys
    case sealingKeyPublished = "latchkey.keys.sealing-key-published.v1"
    case signingKeyRetired = "latchkey.keys.signing-key-retired.v1"

    /// The versioned name, as `ce_type` carries it.
    public var name: String { rawValue }

    /// What reads and writes it.
    public var message: any Message.Type {
        switch self {
        case .issueCode: IssueCode.self
        case .confirmCode: ConfirmCode.self
        case .consumeResetToken: ConsumeResetToken.self
        case .codeIssued: CodeIssued.self
        case .codeMissed: CodeMissed.self
        case .codeExhausted: CodeExhausted.self
        case .codeConfirmed: CodeConfirmed.self
        case .resetTokenIssued: ResetTokenIssued.self
        case .resetTokenConsumed: ResetTokenConsumed.self
        case .checkSignUp: CheckSignUp.self
        case .checkCompletion: CheckCompletion.self
        case .checkLogin: CheckLogin.self
        case .checkPasswordChange: CheckPasswordChange.self
        case .checkErasure: CheckErasure.self
        case .checkProfile: CheckProfile.self
        case .readUser: ReadUser.self
        case .readOnboarding: ReadOnboarding.self
        case .readSessions: ReadSessions.self
        case .startOnboarding: StartOnboarding.self
        case .completeOnboarding: CompleteOnboarding.self
        case .register: Register.self
        case .logIn: LogIn.self
        case .refreshSession: RefreshSession.self
        case .endSession: EndSession.self
        case .endAllSessions: EndAllSessions.self
        case .changePassword: ChangePassword.self
        case .eraseUser: EraseUser.self
        case .updateProfile: UpdateProfile.self
        case .finishReset: FinishReset.self
        case .disableUser: DisableUser.self
        case .enableUser: EnableUser.self
        case .setGroups: SetGroups.self
        case .importUser: ImportUser.self
        case .contactVerified: ContactVerified.self
        case .onboardingStarted: OnboardingStarted.self
        case .onboardingExpired: OnboardingExpired.self
        case .profileUpdated: ProfileUpdated.self
        case .userRegistered: UserRegistered.self
        case .completionRepeated: CompletionRepeated.self
        case .sessionStarted: SessionStarted.self
        case .loginFailed: LoginFailed.self
        case .sessionRefreshed: SessionRefreshed.self
        case .refreshRepeated: RefreshRepeated.self
        case .sessionsEnded: SessionsEnded.self
        case .passwordChanged: PasswordChanged.self
        case .passwordCheckFailed: PasswordCheckFailed.self
        case .passwordReset: PasswordReset.self
        case .userErased: UserErased.self
        case .userDisabled: UserDisabled.self
        case .userEnabled: UserEnabled.self
        case .groupsChanged: GroupsChanged.self
        case .userImported: UserImported.self
        case .retryDelivery: RetryDelivery.self
        case .deliveryAttempted: DeliveryAttempted.self
        case .delivered: Delivered.self
        case .deliveryFailed: DeliveryFailed.self
        case .deliveryUnknown: DeliveryUnknown.self
        case .deliveryExpired: DeliveryExpired.self
        case .reply: Reply.self
        case .sealingKeyPublished: SealingKeyPublished.self
        case .signingKeyRetired: SigningKeyRetired.self
        }
    }

    /// The one topic that messages of this type stand in.
    public var topic: Topic {
        switch self {
        case .issueCode, .confirmCode, .consumeResetToken: .verificationCommands
        case .codeIssued, .codeMissed, .codeExhausted, .codeConfirmed, .resetTokenIssued, .resetTokenConsumed: .verificationEvents
        case .checkSignUp, .checkCompletion, .checkLogin, .checkPasswordChange, .checkErasure, .checkProfile, .readUser,
            .readOnboarding, .readSessions:
            .identityChecks
        case .startOnboarding, .completeOnboarding, .register, .logIn, .refreshSession, .endSession, .endAllSessions,
            .changePassword, .eraseUser, .updateProfile, .finishReset, .disableUser, .enableUser, .setGroups, .importUser:
            .identityCommands
        case .contactVerified, .onboardingStarted, .onboardingExpired, .profileUpdated, .userRegistered, .completionRepeated,
            .sessionStarted, .loginFailed, .sessionRefreshed, .refreshRepeated, .sessionsEnded, .passwordChanged,
            .passwordCheckFailed, .passwordReset, .userErased, .userDisabled, .userEnabled, .groupsChanged, .userImported:
            .identityEvents
        case .retryDelivery: .notifierCommands
        case .deliveryAttempted, .delivered, .deliveryFailed, .deliveryUnknown, .deliveryExpired: .notifierEvents
        case .reply: .replies
        case .sealingKeyPublished, .signingKeyRetired: .keys
        }
    }
}
