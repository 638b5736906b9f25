import Crypto
import EventSchema

/// What stands in Identity's topics.
extension Examples {
    static let identityChecks: [(name: String, message: any Message)] = [
        (
            "latchkey.identity.check-sign-up.v1.full",
            CheckSignUp(
                subject: subject, channel: .email, kind: .onboarding, identifier: box("identifier"), password: box("password"),
                profile: box("profile"), confirmation: message, proofRequired: true, locale: LanguageTag("de-AT"))
        ),
        (
            "latchkey.identity.check-sign-up.v1.bare",
            CheckSignUp(
                subject: subject, channel: .sms, kind: .register, identifier: box("identifier"), password: box("password"),
                proofRequired: false)
        ),
        (
            "latchkey.identity.check-completion.v1.full",
            CheckCompletion(session: session(1), token: box("token"), digest: digest, proofRequired: false)
        ),
        (
            "latchkey.identity.check-completion.v1.proof",
            CheckCompletion(session: session(1), token: box("token"), digest: digest, proofRequired: true)
        ),
        ("latchkey.identity.check-login.v1.full", CheckLogin(subject: subject, password: box("password"), device: device)),
        ("latchkey.identity.check-login.v1.bare", CheckLogin(subject: subject, password: box("password"))),
        (
            "latchkey.identity.check-password-change.v1.full",
            CheckPasswordChange(user: account.user, session: userSession, current: box("current"), new: box("new"))
        ),
        (
            "latchkey.identity.check-erasure.v1.full",
            CheckErasure(user: account.user, session: userSession, password: box("password"))
        ),
        ("latchkey.identity.check-profile.v1.full", CheckProfile(target: .user(account.user), patch: box("patch"))),
        ("latchkey.identity.check-profile.v1.bare", CheckProfile(target: .onboarding(session(1)), patch: box("patch"))),
        ("latchkey.identity.read-user.v1.full", ReadUser(user: account.user)),
        ("latchkey.identity.read-onboarding.v1.full", ReadOnboarding(session: session(1))),
        ("latchkey.identity.read-sessions.v1.full", ReadSessions(user: account.user, current: userSession)),
    ]

    static let identityCommands: [(name: String, message: any Message)] = [
        (
            "latchkey.identity.start-onboarding.v1.full",
            StartOnboarding(
                subject: subject, channel: .email, data: personalData, confirmation: message, proofRequired: true, notice: notice)
        ),
        (
            "latchkey.identity.start-onboarding.v1.bare",
            StartOnboarding(subject: subject, channel: .sms, data: barePersonalData, proofRequired: false)
        ),
        (
            "latchkey.identity.complete-onboarding.v1.full",
            CompleteOnboarding(
                session: session(1), token: box("token"), digest: digest, proofRequired: true, profileVersion: 7,
                client: ciphertext("client"), person: box("person"))
        ),
        (
            "latchkey.identity.complete-onboarding.v1.bare",
            CompleteOnboarding(session: session(1), token: box("token"), digest: digest, proofRequired: false, profileVersion: 0)
        ),
        (
            "latchkey.identity.register.v1.full",
            Register(
                subject: subject, channel: .email, data: personalData, confirmation: message, client: ciphertext("client"),
                person: box("person"))
        ),
        ("latchkey.identity.register.v1.bare", Register(subject: subject, channel: .sms, data: barePersonalData)),
        (
            "latchkey.identity.log-in.v1.full",
            LogIn(
                subject: subject, account: account, verdict: .right, rehash: ciphertext("rehash"), address: address,
                device: device, profileVersion: 7, client: ciphertext("client"), person: box("person"))
        ),
        ("latchkey.identity.log-in.v1.bare", LogIn(subject: subject, verdict: .unchecked, address: address, profileVersion: 0)),
        ("latchkey.identity.refresh-session.v1.full", RefreshSession(session: userSession, token: box("token"), digest: digest)),
        ("latchkey.identity.end-session.v1.full", EndSession(session: userSession, user: account.user, reason: .logoutAll)),
        ("latchkey.identity.end-session.v1.bare", EndSession(session: userSession, reason: .reuse)),
        ("latchkey.identity.end-all-sessions.v1.full", EndAllSessions(user: account.user, reason: .logoutAll)),
        (
            "latchkey.identity.end-all-sessions.v1.asked",
            EndAllSessions(user: account.user, session: userSession, reason: .logoutAll)
        ),
        ("latchkey.identity.end-all-sessions.v1.bare", EndAllSessions(user: account.user, reason: .reuse)),
        (
            "latchkey.identity.change-password.v1.full",
            ChangePassword(account: account, session: userSession, verdict: .right, passwordHash: ciphertext("passwordHash"))
        ),
        (
            "latchkey.identity.change-password.v1.bare",
            ChangePassword(account: account, session: userSession, verdict: .unchecked)
        ),
        ("latchkey.identity.erase-user.v1.full", EraseUser(account: account, session: userSession, verdict: .right)),
        ("latchkey.identity.erase-user.v1.bare", EraseUser(account: account, session: userSession, verdict: .unchecked)),
        (
            "latchkey.identity.update-profile.v1.full",
            UpdateProfile(target: .user(account.user), profile: ciphertext("profile"), profileVersion: 7, person: box("person"))
        ),
        (
            "latchkey.identity.update-profile.v1.bare",
            UpdateProfile(target: .onboarding(session(1)), profile: ciphertext("profile"), profileVersion: 0)
        ),
        (
            "latchkey.identity.finish-reset.v1.full",
            FinishReset(subject: subject, account: account, passwordHash: ciphertext("passwordHash"), notice: notice)
        ),
        ("latchkey.identity.finish-reset.v1.bare", FinishReset(subject: subject, account: account)),
        ("latchkey.identity.disable-user.v1.full", DisableUser(user: account.user)),
        ("latchkey.identity.enable-user.v1.full", EnableUser(user: account.user)),
        ("latchkey.identity.set-groups.v1.full", SetGroups(user: account.user, groups: ["admin", "testing"])),
        ("latchkey.identity.set-groups.v1.bare", SetGroups(user: account.user, groups: [])),
        (
            "latchkey.identity.import-user.v1.full",
            ImportUser(
                subject: subject, channel: .email, data: personalData, createdAt: noon, verifiedAt: noon,
                groups: ["admin", "testing"], disabled: true)
        ),
        (
            "latchkey.identity.import-user.v1.bare",
            ImportUser(subject: subject, channel: .sms, data: barePersonalData, groups: [], disabled: false)
        ),
    ]

    static let identityEvents: [(name: String, message: any Message)] = [
        (
            "latchkey.identity.onboarding-started.v1.full",
            OnboardingStarted(
                subject: subject, channel: .email, session: session(1), data: personalData, expiresAt: noon + .days(1),
                verifiedAt: noon, proof: .code, confirmation: message, superseded: [session(1), session(2)], notice: notice,
                reply: box("reply"))
        ),
        (
            "latchkey.identity.onboarding-started.v1.bare",
            OnboardingStarted(
                subject: subject, channel: .sms, session: session(1), data: barePersonalData, expiresAt: noon + .days(1),
                proof: .none, superseded: [])
        ),
        (
            "latchkey.identity.onboarding-expired.v1.full",
            OnboardingExpired(subject: subject, sessions: [session(1), session(2)])
        ),
        ("latchkey.identity.onboarding-expired.v1.bare", OnboardingExpired(subject: subject, sessions: [])),
        (
            "latchkey.identity.profile-updated.v1.full",
            ProfileUpdated(
                target: .user(account.user), profile: ciphertext("profile"), version: 7, user: user, onboarding: onboarding,
                person: box("person"))
        ),
        (
            "latchkey.identity.profile-updated.v1.bare",
            ProfileUpdated(target: .onboarding(session(1)), profile: ciphertext("profile"), version: 0)
        ),
        (
            "latchkey.identity.user-registered.v1.full",
            UserRegistered(
                subject: subject, channel: .email, user: user, proven: true, data: personalData, completed: session(1),
                confirmation: message, session: startedSession, successor: box("successor"), reply: box("reply"),
                person: box("person"))
        ),
        (
            "latchkey.identity.user-registered.v1.bare",
            UserRegistered(subject: subject, channel: .sms, user: bareUser, proven: false, session: bareStartedSession)
        ),
        (
            "latchkey.identity.completion-repeated.v1.full",
            CompletionRepeated(
                completed: session(1), user: user, session: userSession, reply: box("reply"), person: box("person"))
        ),
        (
            "latchkey.identity.completion-repeated.v1.bare",
            CompletionRepeated(completed: session(1), user: bareUser, session: userSession)
        ),
        (
            "latchkey.identity.session-started.v1.full",
            SessionStarted(
                subject: subject, user: user, session: startedSession, rehash: ciphertext("rehash"),
                ended: [userSession, otherSession], droppedDevices: [device, digest], reply: box("reply"), person: box("person"))
        ),
        (
            "latchkey.identity.session-started.v1.bare",
            SessionStarted(subject: subject, user: bareUser, session: bareStartedSession, ended: [], droppedDevices: [])
        ),
        (
            "latchkey.identity.login-failed.v1.full",
            LoginFailed(
                subject: subject, user: account.user, address: address, device: device,
                ofIdentifier: FailedLogins(failures: 12, blockedUntil: noon + .seconds(4)), ofAddress: FailedLogins(failures: 3),
                ofDevice: FailedLogins(failures: 3), retryAfter: 7)
        ),
        ("latchkey.identity.login-failed.v1.bare", LoginFailed(subject: subject, address: address)),
        (
            "latchkey.identity.session-refreshed.v1.full",
            SessionRefreshed(
                user: account.user, session: userSession, refresh: digest, successor: box("successor"), reply: box("reply"))
        ),
        (
            "latchkey.identity.session-refreshed.v1.bare",
            SessionRefreshed(user: account.user, session: userSession, refresh: digest, successor: box("successor"))
        ),
        (
            "latchkey.identity.refresh-repeated.v1.full",
            RefreshRepeated(user: account.user, session: userSession, reply: box("reply"))
        ),
        ("latchkey.identity.refresh-repeated.v1.bare", RefreshRepeated(user: account.user, session: userSession)),
        (
            "latchkey.identity.sessions-ended.v1.full",
            SessionsEnded(user: account.user, sessions: [userSession, otherSession], reason: .logoutAll)
        ),
        ("latchkey.identity.sessions-ended.v1.bare", SessionsEnded(user: account.user, sessions: [], reason: .reuse)),
        (
            "latchkey.identity.password-changed.v1.full",
            PasswordChanged(
                account: account, session: userSession, passwordHash: ciphertext("passwordHash"),
                ended: [userSession, otherSession])
        ),
        (
            "latchkey.identity.password-changed.v1.bare",
            PasswordChanged(account: account, session: userSession, passwordHash: ciphertext("passwordHash"), ended: [])
        ),
        (
            "latchkey.identity.password-check-failed.v1.full",
            PasswordCheckFailed(user: account.user, session: userSession, use: .changePassword, failures: 7, ended: true)
        ),
        (
            "latchkey.identity.password-check-failed.v1.bare",
            PasswordCheckFailed(user: account.user, session: userSession, use: .erase, failures: 0, ended: false)
        ),
        (
            "latchkey.identity.password-reset.v1.full",
            PasswordReset(
                subject: subject, account: account, passwordHash: ciphertext("passwordHash"), verifiedAt: noon,
                ended: [userSession, otherSession], droppedDevices: [device, digest], notice: notice)
        ),
        (
            "latchkey.identity.password-reset.v1.bare",
            PasswordReset(
                subject: subject, account: account, passwordHash: ciphertext("passwordHash"), ended: [], droppedDevices: [])
        ),
        (
            "latchkey.identity.user-erased.v1.full",
            UserErased(user: account.user, subjects: [subject], ended: [userSession, otherSession])
        ),
        ("latchkey.identity.user-erased.v1.bare", UserErased(user: account.user, subjects: [], ended: [])),
        ("latchkey.identity.user-disabled.v1.full", UserDisabled(user: account.user, ended: [userSession, otherSession])),
        ("latchkey.identity.user-disabled.v1.bare", UserDisabled(user: account.user, ended: [])),
        ("latchkey.identity.user-enabled.v1.full", UserEnabled(user: account.user)),
        ("latchkey.identity.groups-changed.v1.full", GroupsChanged(user: account.user, groups: ["admin", "testing"])),
        ("latchkey.identity.groups-changed.v1.bare", GroupsChanged(user: account.user, groups: [])),
        (
            "latchkey.identity.user-imported.v1.full",
            UserImported(subject: subject, channel: .email, user: user, data: personalData, disabled: true)
        ),
        (
            "latchkey.identity.user-imported.v1.bare",
            UserImported(subject: subject, channel: .sms, user: bareUser, data: barePersonalData, disabled: false)
        ),
    ]

    static let resetTokens: [(name: String, message: any Message)] = [
        (
            "latchkey.verification.consume-reset-token.v1.full",
            ConsumeResetToken(subject: subject, digest: digest, password: box("password"))
        ),
        (
            "latchkey.verification.reset-token-issued.v1.full",
            ResetTokenIssued(
                subject: subject, account: account, digest: digest, expiresAt: noon + .days(1), device: device,
                reply: box("reply"))
        ),
        (
            "latchkey.verification.reset-token-issued.v1.bare",
            ResetTokenIssued(subject: subject, account: account, digest: digest, expiresAt: noon + .days(1))
        ),
        (
            "latchkey.verification.reset-token-consumed.v1.full",
            ResetTokenConsumed(subject: subject, account: account, password: box("password"))
        ),
    ]

    private static let notice = Notice(recipient: box("recipient"), locale: LanguageTag("de-AT"))
    private static let personalData = PersonalData(
        dataKey: dataKey, identifier: ciphertext("identifier"), passwordHash: ciphertext("passwordHash"),
        profile: ciphertext("profile"))
    private static let barePersonalData = PersonalData(
        dataKey: dataKey, identifier: ciphertext("identifier"), passwordHash: ciphertext("passwordHash"))
    private static let user = UserSummary(
        user: account.user, createdAt: noon, emailVerifiedAt: noon, phoneVerifiedAt: noon, groups: ["admin", "testing"])
    private static let bareUser = UserSummary(user: account.user, createdAt: noon, groups: [])
    private static let onboarding = OnboardingSummary(
        session: session(1), channel: .email, verifiedAt: noon, expiresAt: noon + .days(1))
    private static let startedSession = StartedSession(
        session: userSession, refresh: digest, expiresAt: noon + .days(1), device: device, isNewDevice: true,
        client: ciphertext("client"))
    private static let bareStartedSession = StartedSession(
        session: userSession, refresh: digest, expiresAt: noon + .days(1), device: device, isNewDevice: false)

    private static let userSession = required(SessionID("0b5d9b0e-8f0c-4a6e-9d38-111111111111"))
    private static let otherSession = required(SessionID("0b5d9b0e-8f0c-4a6e-9d38-222222222222"))
    private static let dataKey = DataKeyID(of: message)
    private static let address = required(AddressTag(bytes: bytes(8)))

    /// Not one that opens: one of the right form.
    private static func ciphertext(_ content: String) -> Ciphertext {
        required(Ciphertext(bytes: bytes(24) + Array(content.utf8) + bytes(16)))
    }
}
