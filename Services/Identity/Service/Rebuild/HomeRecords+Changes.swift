internal import Crypto
internal import EventSchema
internal import IdentityDomain

extension HomeRecords {
    /// What a change does beyond the rows of its home.
    struct Effects: Sendable {
        /// Sessions that have ended, in the order in which they did.
        var ended: [EndedSession] = []
        /// Keys that are destroyed for good.
        var destroyed: [DataKeyID: DataKeyStore.Reason] = [:]
    }

    /// The changes of one event, in the order in which `HomeWriter` makes them in tables.
    mutating func apply(_ changes: HomeChanges, _ effects: inout Effects) {
        prove(by: changes)
        endOnboarding(by: changes, &effects)
        for started in changes.onboarding { insert(started) }
        for notice in changes.notices {
            notices[notice.row] = SignUpNotice(subject: notice.row, noticedAt: notice.place.time)
        }
        for user in changes.users { insert(user) }
        for completion in changes.completions { complete(completion) }
        changeSessions(by: changes, &effects)
        changeDevices(by: changes)
        countFailures(by: changes)
        changeUsers(by: changes)
        erase(by: changes, &effects)
    }

    // MARK: Proofs and onboarding

    private mutating func prove(by changes: HomeChanges) {
        for stamp in changes.identifierStamps where identifiers[stamp.row.id]?.verifiedAt == nil {
            identifiers[stamp.row.id]?.verifiedAt = stamp.row.verifiedAt
        }
        for stamp in changes.onboardingStamps where onboarding[stamp.row.id]?.verifiedAt == nil {
            onboarding[stamp.row.id]?.verifiedAt = stamp.row.verifiedAt
        }
        for flag in changes.flags {
            let event = flag.row
            contacts[event.subject] = VerifiedContact(
                subject: event.subject, channel: contacts[event.subject]?.channel ?? event.channel,
                confirmation: event.confirmation, command: event.command, verifiedAt: event.verifiedAt,
                expiresAt: event.flagUntil ?? event.verifiedAt)
        }
        for flag in changes.usedFlags { contacts[flag.row]?.isWaiting = false }
        for flag in changes.droppedFlags { contacts[flag.row] = nil }
    }

    private mutating func endOnboarding(by changes: HomeChanges, _ effects: inout Effects) {
        for end in changes.onboardingEnds {
            guard var session = onboarding[end.row.id] else { continue }
            effects.destroyed[session.dataKey] = DataKeyStore.Reason(rawValue: end.row.status)
            session.status = end.row.status
            (session.identifier, session.passwordHash, session.profile) = (nil, nil, nil)
            onboarding[end.row.id] = session
        }
    }

    private mutating func insert(_ started: HomeChanges.At<OnboardingStarted>) {
        let (event, data) = (started.row, started.row.data)
        onboarding[event.session] = Onboarding(
            id: event.session, subject: event.subject, channel: event.channel, proof: event.proof, createdAt: started.place.time,
            expiresAt: event.expiresAt, verifiedAt: event.verifiedAt, dataKey: data.dataKey, identifier: data.identifier.bytes,
            passwordHash: data.passwordHash.bytes, profile: data.profile?.bytes)
    }

    private mutating func complete(_ completion: HomeChanges.At<HomeChanges.Completion>) {
        let row = completion.row
        guard var session = onboarding[row.id] else { return }
        session.status = "completed"
        (session.identifier, session.passwordHash, session.profile) = (nil, nil, nil)
        session.completedAt = completion.place.time
        (session.user, session.session, session.successor) = (row.user, row.session, row.successor?.encoded)
        onboarding[row.id] = session
    }

    // MARK: Users

    private mutating func insert(_ added: HomeChanges.At<HomeChanges.NewUser>) {
        let (new, summary) = (added.row, added.row.user)
        let session = new.completed.flatMap { onboarding[$0] }
        // Without one of them the tables take no such row.
        guard let dataKey = new.data?.dataKey ?? session?.dataKey,
            let identifier = new.data?.identifier.bytes ?? session?.identifier
        else { return }
        users[summary.user] = User(
            id: summary.user, createdAt: summary.createdAt, isProven: new.proven, isDisabled: new.disabled,
            groups: summary.groups, dataKey: dataKey, passwordHash: new.data?.passwordHash.bytes ?? session?.passwordHash,
            profile: new.data?.profile?.bytes ?? session?.profile, profileVersion: session?.profileVersion ?? 0)
        identifiers[new.subject] = Identifier(
            subject: new.subject, channel: new.channel, user: summary.user, attachedAt: added.place.time,
            verifiedAt: new.channel == .email ? summary.emailVerifiedAt : summary.phoneVerifiedAt, identifier: identifier)
    }

    private mutating func changeUsers(by changes: HomeChanges) {
        for password in changes.passwords {
            let row = password.row
            users[row.user]?.passwordHash = row.hash.bytes
            if let version = row.version { users[row.user]?.credentialVersion = version }
            if row.proves { users[row.user]?.isProven = true }
        }
        for profile in changes.userProfiles {
            users[profile.row.id]?.profile = profile.row.profile.bytes
            users[profile.row.id]?.profileVersion = profile.row.version
        }
        for profile in changes.onboardingProfiles {
            onboarding[profile.row.id]?.profile = profile.row.profile.bytes
            onboarding[profile.row.id]?.profileVersion = profile.row.version
        }
        for change in changes.groups { users[change.row.user]?.groups = change.row.groups }
        for change in changes.statuses { users[change.row.user]?.isDisabled = change.row.disabled }
    }

    private mutating func erase(by changes: HomeChanges, _ effects: inout Effects) {
        for erased in changes.erased {
            let id = erased.row
            if var user = users[id] {
                effects.destroyed[user.dataKey] = .erased
                (user.erasedAt, user.passwordHash, user.profile, user.groups) = (erased.place.time, nil, nil, [])
                users[id] = user
            }
            devices = devices.filter { $0.value.user != id }
            onboarding = onboarding.filter { $0.value.user != id }
        }
        for subject in changes.freed {
            identifiers[subject.row] = nil
            contacts[subject.row] = nil
        }
    }

    // MARK: Sessions, devices, failed logins

    private mutating func changeSessions(by changes: HomeChanges, _ effects: inout Effects) {
        for end in changes.ended {
            guard let session = sessions.removeValue(forKey: end.row) else { continue }
            effects.ended.append(EndedSession(id: session.id, user: session.user, endedAt: end.place.time))
        }
        for digest in changes.droppedDevices { devices[digest.row] = nil }
        for new in changes.sessions {
            let (session, time) = (new.row.session, new.place.time)
            sessions[session.session] = Session(
                id: session.session, user: new.row.user, startedAt: time, expiresAt: session.expiresAt, refreshedAt: time,
                refresh: session.refresh.bytes, device: session.device.bytes, client: session.client?.bytes)
        }
        for refresh in changes.refreshes {
            guard var session = sessions[refresh.row.session] else { continue }
            session.previous = session.refresh
            session.refresh = refresh.row.refresh.bytes
            session.successor = refresh.row.successor.encoded
            session.refreshedAt = refresh.place.time
            sessions[refresh.row.session] = session
        }
        for count in changes.failedChecks { sessions[count.row.session]?.failedChecks = count.row.failures }
    }

    private mutating func changeDevices(by changes: HomeChanges) {
        for new in changes.devices {
            devices[new.row.device] = Device(digest: new.row.device, user: new.row.user, issuedAt: new.place.time)
        }
        for count in changes.deviceFailures {
            guard var device = devices[count.row.device] else { continue }
            device.failures = count.row.failed?.failures ?? 0
            device.failedAt = device.failures > 0 ? count.place.time : nil
            device.blockedUntil = count.row.failed?.blockedUntil
            devices[count.row.device] = device
        }
        for user in changes.forgivenUsers {
            for (digest, var device) in devices where device.user == user.row {
                (device.failures, device.failedAt, device.blockedUntil) = (0, nil, nil)
                devices[digest] = device
            }
        }
    }

    private mutating func countFailures(by changes: HomeChanges) {
        for count in changes.failures {
            let key = LoginFailures.Key(subject: count.row.subject, address: count.row.address)
            failures[key] = LoginFailures(
                key: key, failures: count.row.failed.failures, failedAt: count.place.time,
                blockedUntil: count.row.failed.blockedUntil)
        }
        for subject in changes.forgivenSubjects { failures = failures.filter { $0.key.subject != subject.row } }
    }

    // MARK: Housekeeping

    /// Drops what is of no more use at this time.
    mutating func sweep(at time: Timestamp) {
        contacts.drop { $0.expiresAt < time - Keeping.proofs }
        onboarding.drop { $0.status != Onboarding.active && $0.expiresAt < time - Keeping.onboarding }
        sessions.drop { $0.expiresAt < time - Keeping.sessions }
        failures.drop { $0.failedAt < time - Keeping.loginFailures }
    }
}

extension Dictionary {
    /// Makes another dictionary only where there is something to drop, which is seldom.
    fileprivate mutating func drop(_ isOver: (Value) -> Bool) {
        if values.contains(where: isOver) { self = filter { !isOver($0.value) } }
    }
}
