internal import EventSchema
internal import IdentityDomain

extension HomeChanges {
    mutating func add(_ event: IdentityEvent, _ place: Place) {
        func at<Row: Sendable>(_ row: Row) -> At<Row> { At(place: place, row: row) }
        switch event {
        case .contactVerified(let event):
            if event.user != nil { identifierStamps.append(at(Stamp(id: event.subject, verifiedAt: event.verifiedAt))) }
            onboardingStamps += event.sessions.map { at(Stamp(id: $0, verifiedAt: event.verifiedAt)) }
            if event.flagUntil != nil { flags.append(at(event)) }
        case .onboardingStarted(let event):
            onboardingEnds += event.superseded.map { at(OnboardingEnd(id: $0, status: "superseded")) }
            onboarding.append(at(event))
            useFlag(of: event.subject, event.proof, place)
            if event.notice != nil { notices.append(at(event.subject)) }
        case .onboardingExpired(let event):
            onboardingEnds += event.sessions.map { at(OnboardingEnd(id: $0, status: "expired")) }
        case .profileUpdated(let event):
            switch event.target {
            case .user(let id): userProfiles.append(at(Profile(id: id, profile: event.profile, version: event.version)))
            case .onboarding(let id):
                onboardingProfiles.append(at(Profile(id: id, profile: event.profile, version: event.version)))
            }
        case .userRegistered(let event): add(event, place)
        case .completionRepeated, .refreshRepeated: break
        case .sessionStarted(let event): add(event, place)
        case .loginFailed(let event):
            if let failed = event.ofIdentifier { failures.append(at(Failures(subject: event.subject, failed: failed))) }
            if let failed = event.ofAddress {
                failures.append(at(Failures(subject: event.subject, address: event.address, failed: failed)))
            }
            if let device = event.device, let failed = event.ofDevice {
                deviceFailures.append(at(DeviceFailures(device: device, failed: failed)))
            }
        case .sessionRefreshed(let event): refreshes.append(at(event))
        case .sessionsEnded(let event): end(event.sessions, place)
        case .passwordChanged(let event):
            passwords.append(at(Password(event.account, event.passwordHash, proves: false)))
            failedChecks.append(at((session: event.session, failures: 0)))
            end(event.ended, place)
        case .passwordCheckFailed(let event):
            failedChecks.append(at((session: event.session, failures: event.failures)))
            if event.ended { end([event.session], place) }
        case .passwordReset(let event): add(event, place)
        case .userErased(let event):
            erased.append(at(event.user))
            freed += event.subjects.map { at($0) }
            end(event.ended, place)
        case .userDisabled(let event):
            statuses.append(at((user: event.user, disabled: true)))
            end(event.ended, place)
        case .userEnabled(let event): statuses.append(at((user: event.user, disabled: false)))
        case .groupsChanged(let event): groups.append(at(event))
        case .userImported(let event):
            users.append(
                at(
                    NewUser(
                        user: event.user, subject: event.subject, channel: event.channel, proven: false,
                        disabled: event.disabled, data: event.data)))
        }
    }

    private mutating func add(_ event: UserRegistered, _ place: Place) {
        let user = event.user.user
        users.append(
            At(
                place: place,
                row: NewUser(
                    user: event.user, subject: event.subject, channel: event.channel, proven: event.proven, disabled: false,
                    data: event.data, completed: event.completed)))
        if let completed = event.completed {
            completions.append(
                At(
                    place: place,
                    row: Completion(
                        id: completed, user: user, session: event.session.session, successor: event.successor)))
        } else if event.confirmation != nil {
            useFlag(of: event.subject, event.proven ? .code : .flag, place)
        }
        start(event.session, of: user, place)
    }

    private mutating func add(_ event: SessionStarted, _ place: Place) {
        let user = event.user.user
        end(event.ended, place)
        droppedDevices += event.droppedDevices.map { At(place: place, row: $0) }
        start(event.session, of: user, place)
        deviceFailures.append(At(place: place, row: DeviceFailures(device: event.session.device)))
        if let hash = event.rehash {
            passwords.append(At(place: place, row: Password(user: user, hash: hash, proves: false)))
        }
    }

    private mutating func add(_ event: PasswordReset, _ place: Place) {
        passwords.append(At(place: place, row: Password(event.account, event.passwordHash, proves: true)))
        droppedDevices += event.droppedDevices.map { At(place: place, row: $0) }
        if let verifiedAt = event.verifiedAt {
            identifierStamps.append(At(place: place, row: Stamp(id: event.subject, verifiedAt: verifiedAt)))
        }
        forgivenUsers.append(At(place: place, row: event.account.user))
        forgivenSubjects.append(At(place: place, row: event.subject))
        end(event.ended, place)
    }

    private mutating func start(_ session: StartedSession, of user: UserID, _ place: Place) {
        sessions.append(At(place: place, row: NewSession(user: user, session: session)))
        if session.isNewDevice { devices.append(At(place: place, row: (user: user, device: session.device))) }
    }

    private mutating func end(_ sessions: [SessionID], _ place: Place) { ended += sessions.map { At(place: place, row: $0) } }

    private mutating func useFlag(of subject: Subject, _ proof: SignUpProof, _ place: Place) {
        switch proof {
        case .none: break
        case .flag: usedFlags.append(At(place: place, row: subject))
        case .code: droppedFlags.append(At(place: place, row: subject))
        }
    }
}

extension HomeChanges.Password {
    fileprivate init(_ account: AccountReference, _ hash: Ciphertext, proves: Bool) {
        self.init(user: account.user, hash: hash, version: account.credentialVersion, proves: proves)
    }
}
