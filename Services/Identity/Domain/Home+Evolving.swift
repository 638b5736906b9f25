internal import EventSchema

extension Home {
    public static func evolve(_ state: inout State, with event: Event) {
        state.apply(event.content, at: event.time)
    }
}

extension Home.State {
    mutating func apply(_ event: IdentityEvent, at now: Timestamp) {
        change(by: event, at: now)
        contacts = contacts.filter { $0.value != Home.Contact() }
    }

    private mutating func change(by event: IdentityEvent, at now: Timestamp) {
        switch event {
        case .contactVerified(let event): apply(event)
        case .onboardingStarted(let event): apply(event, at: now)
        case .onboardingExpired(let event): for id in event.sessions { onboarding[id] = nil }
        case .profileUpdated(let event):
            switch event.target {
            case .user(let id): users[id]?.profileVersion = event.version
            case .onboarding(let id): onboarding[id]?.profileVersion = event.version
            }
        case .userRegistered(let event): apply(event, at: now)
        case .completionRepeated, .refreshRepeated: break
        case .sessionStarted(let event): apply(event, at: now)
        case .loginFailed(let event): apply(event, at: now)
        case .sessionRefreshed(let event):
            guard let session = sessions[event.session] else { return }
            sessions[event.session]?.previous = Home.Previous(refresh: session.refresh, successor: event.successor)
            sessions[event.session]?.refresh = event.refresh
            sessions[event.session]?.refreshedAt = now
        case .sessionsEnded(let event): end(event.sessions)
        case .passwordChanged(let event):
            users[event.account.user]?.credentialVersion = event.account.credentialVersion
            sessions[event.session]?.failedChecks = 0
            end(event.ended)
        case .passwordCheckFailed(let event):
            sessions[event.session]?.failedChecks = event.failures
            if event.ended { end([event.session]) }
        case .passwordReset(let event): apply(event)
        case .userErased(let event): apply(event)
        case .userDisabled(let event):
            users[event.user]?.isDisabled = true
            end(event.ended)
        case .userEnabled(let event): users[event.user]?.isDisabled = false
        case .groupsChanged(let event): users[event.user]?.groups = event.groups
        case .userImported(let event):
            add(event.user, event.subject, event.channel, event.data.dataKey, proven: false)
            users[event.user.user]?.isDisabled = event.disabled
        }
    }

    // MARK: One event each

    private mutating func apply(_ event: ContactVerified) {
        if let user = event.user, contacts[event.subject]?.account == user, contacts[event.subject]?.verifiedAt == nil {
            contacts[event.subject]?.verifiedAt = event.verifiedAt
        }
        for id in event.sessions where onboarding[id]?.verifiedAt == nil { onboarding[id]?.verifiedAt = event.verifiedAt }
        if let until = event.flagUntil {
            contacts[event.subject, default: Home.Contact()].flag = Home.Flag(
                confirmation: event.confirmation, command: event.command, verifiedAt: event.verifiedAt, until: until)
        }
    }

    private mutating func apply(_ event: OnboardingStarted, at now: Timestamp) {
        for id in event.superseded { onboarding[id] = nil }
        onboarding[event.session] = Home.Onboarding(
            subject: event.subject, channel: event.channel, startedAt: now, expiresAt: event.expiresAt,
            dataKey: event.data.dataKey, proof: event.proof, verifiedAt: event.verifiedAt)
        consumeFlag(of: event.subject, event.proof)
        if event.notice != nil { contacts[event.subject, default: Home.Contact()].noticedAt = now }
    }

    private mutating func apply(_ event: UserRegistered, at now: Timestamp) {
        let user = event.user.user
        if let id = event.completed {
            guard let session = onboarding[id] else { return }
            add(event.user, event.subject, event.channel, session.dataKey, proven: event.proven)
            users[user]?.profileVersion = session.profileVersion
            onboarding[id]?.completion = Home.Completion(
                at: now, user: user, session: event.session.session, successor: event.successor)
        } else if let data = event.data {
            add(event.user, event.subject, event.channel, data.dataKey, proven: event.proven)
            if event.confirmation != nil { consumeFlag(of: event.subject, event.proven ? .code : .flag) }
        }
        start(event.session, of: user, at: now)
    }

    private mutating func apply(_ event: SessionStarted, at now: Timestamp) {
        let user = event.user.user
        end(event.ended)
        for device in event.droppedDevices { devices[device] = nil }
        start(event.session, of: user, at: now)
        devices[event.session.device]?.failures = LoginBudget()
    }

    private mutating func apply(_ event: LoginFailed, at now: Timestamp) {
        if let device = event.device, let failed = event.ofDevice {
            devices[device]?.failures = LoginBudget(failed, at: now)
        }
        if let failed = event.ofIdentifier {
            contacts[event.subject, default: Home.Contact()].failures = LoginBudget(failed, at: now)
        }
        if let failed = event.ofAddress {
            contacts[event.subject, default: Home.Contact()].failuresByAddress[event.address] = LoginBudget(failed, at: now)
        }
    }

    private mutating func apply(_ event: PasswordReset) {
        let user = event.account.user
        users[user]?.credentialVersion = event.account.credentialVersion
        users[user]?.isProven = true
        for device in event.droppedDevices { devices[device] = nil }
        for device in devices(of: user) { devices[device]?.failures = LoginBudget() }
        if let verifiedAt = event.verifiedAt { contacts[event.subject]?.verifiedAt = verifiedAt }
        contacts[event.subject]?.failures = LoginBudget()
        contacts[event.subject]?.failuresByAddress = [:]
        end(event.ended)
    }

    private mutating func apply(_ event: UserErased) {
        end(event.ended)
        users[event.user] = nil
        devices = devices.filter { $0.value.user != event.user }
        for subject in event.subjects {
            contacts[subject]?.account = nil
            contacts[subject]?.channel = nil
            contacts[subject]?.verifiedAt = nil
            contacts[subject]?.flag = nil
        }
        for (id, session) in onboarding where session.completion?.user == event.user { onboarding[id] = nil }
    }

    // MARK: Parts

    private mutating func add(
        _ user: UserSummary, _ subject: Subject, _ channel: Channel, _ dataKey: DataKeyID, proven: Bool
    ) {
        users[user.user] = Home.User(createdAt: user.createdAt, dataKey: dataKey, isProven: proven, groups: user.groups)
        contacts[subject, default: Home.Contact()].account = user.user
        contacts[subject]?.channel = channel
        contacts[subject]?.verifiedAt = channel == .email ? user.emailVerifiedAt : user.phoneVerifiedAt
    }

    private mutating func start(_ session: StartedSession, of user: UserID, at now: Timestamp) {
        sessions[session.session] = Home.Session(
            user: user, startedAt: now, expiresAt: session.expiresAt, refresh: session.refresh)
        if session.isNewDevice { devices[session.device] = Home.Device(user: user, issuedAt: now) }
    }

    private mutating func end(_ ended: [SessionID]) { for id in ended { sessions[id] = nil } }

    /// A sign-up with the code of the confirmation uses it up; one without leaves it to that.
    private mutating func consumeFlag(of subject: Subject, _ proof: SignUpProof) {
        switch proof {
        case .none: break
        case .flag: contacts[subject]?.flag?.isWaiting = false
        case .code: contacts[subject]?.flag = nil
        }
    }
}
