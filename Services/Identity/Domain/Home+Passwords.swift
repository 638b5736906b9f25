internal import EventSchema

/// Changing and resetting passwords, profiles, and erasure.
extension Home.State {
    func changePassword(_ request: ChangePassword, at now: Timestamp) throws(Home.Refusal) -> IdentityEvent {
        let user = request.account.user
        if let failure = try check(request.account, request.session, request.verdict, for: .changePassword, at: now) {
            return failure
        }
        guard let hash = request.passwordHash else { throw .stale }
        return .passwordChanged(
            PasswordChanged(
                account: request.account.next, session: request.session, passwordHash: hash,
                ended: sessions(of: user).filter { $0 != request.session }))
    }

    func erase(_ request: EraseUser, at now: Timestamp) throws(Home.Refusal) -> IdentityEvent {
        let user = request.account.user
        if let failure = try check(request.account, request.session, request.verdict, for: .erase, at: now) { return failure }
        let subjects = contacts.filter { $0.value.account == user }.keys.sorted { $0.base64url < $1.base64url }
        return .userErased(UserErased(user: user, subjects: subjects, ended: sessions(of: user)))
    }

    /// `nil` when the user who is signed in has given the right password.
    private func check(
        _ account: AccountReference, _ session: SessionID, _ verdict: PasswordVerdict, for use: PasswordUse, at now: Timestamp
    ) throws(Home.Refusal) -> IdentityEvent? {
        guard let user = users[account.user], !user.isDisabled, let live = liveSession(session, of: account.user, at: now) else {
            throw .unauthenticated
        }
        guard user.credentialVersion == account.credentialVersion else { throw .stale }
        switch verdict {
        case .right: return nil
        case .unchecked: throw .stale
        case .wrong:
            let failures = live.failedChecks + 1
            return .passwordCheckFailed(
                PasswordCheckFailed(
                    user: account.user, session: session, use: use, failures: failures,
                    ended: failures >= Home.passwordChecks))
        }
    }

    func finishReset(_ request: FinishReset, at now: Timestamp) throws(Home.Refusal) -> IdentityEvent {
        let id = request.account.user
        guard let user = users[id], !user.isDisabled, user.credentialVersion == request.account.credentialVersion,
            let contact = contacts[request.subject], contact.account == id, let hash = request.passwordHash
        else { throw .resetTokenInvalid }
        return .passwordReset(
            PasswordReset(
                subject: request.subject, account: request.account.next, passwordHash: hash,
                verifiedAt: contact.verifiedAt == nil ? now : nil, ended: sessions(of: id),
                // Whoever set the password may have been somebody else, and so may be whose devices these are.
                droppedDevices: user.isProven ? [] : devices(of: id),
                notice: request.notice))
    }

    func updateProfile(_ request: UpdateProfile, at now: Timestamp) throws(Home.Refusal) -> IdentityEvent {
        var updated = ProfileUpdated(
            target: request.target, profile: request.profile, version: request.profileVersion + 1, person: request.person)
        switch request.target {
        case .user(let id):
            guard let user = users[id], !user.isDisabled else { throw .unauthenticated }
            guard user.profileVersion == request.profileVersion else { throw .stale }
            updated.user = summary(of: id)
        case .onboarding(let id):
            guard let session = onboarding[id] else { throw .unauthenticated }
            guard session.completion == nil else { throw .onboardingCompleted }
            guard now < session.expiresAt else { throw .unauthenticated }
            guard session.profileVersion == request.profileVersion else { throw .stale }
            updated.onboarding = session.summary(id)
        }
        return .profileUpdated(updated)
    }
}

extension AccountReference {
    /// After one more change of the credential.
    fileprivate var next: AccountReference { AccountReference(user: user, credentialVersion: credentialVersion + 1) }
}
