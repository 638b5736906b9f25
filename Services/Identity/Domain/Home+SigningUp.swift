internal import EventSchema

/// Proofs, onboarding sessions, and what becomes of them.
extension Home.State {
    /// Nothing can be wrong with a proof: whom it concerns is all that there is to decide.
    ///
    /// The flag is kept whether or not there is an account or a session already: an identifier that has an account must not
    /// behave otherwise than one that has none.
    func confirm(_ confirmation: Home.Confirmation, at now: Timestamp) -> IdentityEvent {
        let until = confirmation.confirmedAt + Home.flagLifetime
        return .contactVerified(
            ContactVerified(
                subject: confirmation.subject, channel: confirmation.channel, verifiedAt: confirmation.confirmedAt,
                user: account(of: confirmation.subject)?.id,
                sessions: onboarding(of: confirmation.subject).filter { isActive($0, at: now) },
                flagUntil: until > now ? until : nil, confirmation: confirmation.id, command: confirmation.command))
    }

    func startOnboarding(
        _ request: StartOnboarding, _ session: OnboardingSessionID, at now: Timestamp
    ) throws(Home.Refusal) -> IdentityEvent {
        let claim = try claim(request.subject, request.confirmation, at: now)
        let isOwned = account(of: request.subject) != nil
        // Where a proof is required, who has none is not told that there is an account; its owner is.
        guard !isOwned || (request.proofRequired && claim.proof != .code) else { throw .accountExists }
        let toldLately = contacts[request.subject]?.noticedAt.map { $0 <= now && now < $0 + Home.noticeInterval } ?? false
        let superseded = onboarding(of: request.subject).filter { id in
            isActive(id, at: now) && (claim.proof == .code || onboarding[id]?.verifiedAt == nil)
        }
        return .onboardingStarted(
            OnboardingStarted(
                subject: request.subject, channel: request.channel, session: session, data: request.data,
                expiresAt: now + Home.onboardingLifetime, verifiedAt: claim.verifiedAt, proof: claim.proof,
                confirmation: claim.confirmation, superseded: superseded,
                notice: isOwned && !toldLately ? request.notice : nil))
    }

    func register(
        _ request: Register, _ user: UserID, _ signIn: Home.SignIn, at now: Timestamp
    ) throws(Home.Refusal) -> IdentityEvent {
        let claim = try claim(request.subject, request.confirmation, at: now)
        guard account(of: request.subject) == nil else { throw .accountExists }
        return .userRegistered(
            UserRegistered(
                subject: request.subject, channel: request.channel,
                user: newUser(user, request.channel, claim.verifiedAt, at: now), proven: claim.proof == .code, data: request.data,
                confirmation: claim.confirmation, session: signIn.started(client: request.client, at: now),
                person: request.person))
    }

    func complete(
        _ request: CompleteOnboarding, _ user: UserID, _ signIn: Home.SignIn, at now: Timestamp
    ) throws(Home.Refusal) -> IdentityEvent {
        guard let session = onboarding[request.session] else { throw .unauthenticated }
        if let completion = session.completion { return try again(completion, request, at: now) }
        guard now < session.expiresAt else { throw .unauthenticated }
        guard !request.proofRequired || session.verifiedAt != nil else { throw .proofRequired }
        guard account(of: session.subject) == nil else { throw .accountExists }
        guard request.profileVersion == session.profileVersion else { throw .stale }
        return .userRegistered(
            UserRegistered(
                subject: session.subject, channel: session.channel,
                user: newUser(user, session.channel, session.verifiedAt, at: now), proven: session.proof == .code,
                completed: request.session, session: signIn.started(client: request.client, at: now),
                successor: signIn.successor, person: request.person))
    }

    /// The answer was lost, and the refresh token in it is unused.
    private func again(
        _ completion: Home.Completion, _ request: CompleteOnboarding, at now: Timestamp
    ) throws(Home.Refusal) -> IdentityEvent {
        guard completion.at <= now, now <= completion.at + Home.completionGrace, completion.successor != nil,
            let user = summary(of: completion.user), users[completion.user]?.isDisabled == false,
            let session = liveSession(completion.session, of: completion.user, at: now), session.previous == nil
        else { throw .onboardingCompleted }
        guard request.profileVersion == users[completion.user]?.profileVersion else { throw .stale }
        return .completionRepeated(
            CompletionRepeated(
                completed: request.session, user: user, session: completion.session, person: request.person))
    }

    func expireOnboarding(of subject: Subject, at now: Timestamp) throws(Home.Refusal) -> IdentityEvent {
        let expired = onboarding(of: subject).filter { id in
            onboarding[id].map { $0.completion == nil && $0.expiresAt <= now } ?? false
        }
        guard !expired.isEmpty else { throw .alreadySo }
        return .onboardingExpired(OnboardingExpired(subject: subject, sessions: expired))
    }

    // MARK: Parts

    /// What shows that an identifier is that of who signs up with it.
    private struct Claim {
        var proof: SignUpProof
        var verifiedAt: Timestamp?
        var confirmation: MessageID?
    }

    private func claim(_ subject: Subject, _ command: MessageID?, at now: Timestamp) throws(Home.Refusal) -> Claim {
        let flag = contacts[subject]?.flag.flatMap { $0.isLive(at: now) ? $0 : nil }
        if let command {
            guard let flag, flag.command == command else { throw .confirmationUnknown }
            return Claim(proof: .code, verifiedAt: flag.verifiedAt, confirmation: flag.confirmation)
        }
        guard let flag, flag.isWaiting else { return Claim(proof: .none) }
        return Claim(proof: .flag, verifiedAt: flag.verifiedAt, confirmation: flag.confirmation)
    }

    /// In the order in which they started.
    private func onboarding(of subject: Subject) -> [OnboardingSessionID] {
        onboarding.filter { $0.value.subject == subject }
            .sorted { ($0.value.startedAt, $0.key.text) < ($1.value.startedAt, $1.key.text) }.map(\.key)
    }

    private func isActive(_ id: OnboardingSessionID, at now: Timestamp) -> Bool {
        onboarding[id].map { $0.completion == nil && now < $0.expiresAt } ?? false
    }

    private func newUser(_ user: UserID, _ channel: Channel, _ verifiedAt: Timestamp?, at now: Timestamp) -> UserSummary {
        UserSummary(
            user: user, createdAt: now, emailVerifiedAt: channel == .email ? verifiedAt : nil,
            phoneVerifiedAt: channel == .sms ? verifiedAt : nil, groups: [])
    }
}

extension Home.SignIn {
    /// With a new device.
    func started(client: Ciphertext?, at now: Timestamp) -> StartedSession {
        StartedSession(
            session: session, refresh: refresh, expiresAt: now + Home.absoluteLifetime, device: device, isNewDevice: true,
            client: client)
    }
}
