internal import EventLog
internal import EventSchema
internal import JSON
internal import Runtime

extension CheckWork {
    /// Fields that are `null` in the patch go, others take the place of those that are there.
    func updateProfile(
        _ check: CheckProfile, _ message: InboxMessage, _ records: AccountDirectory.Records
    ) throws(Stop) -> Outcome {
        let bytes = try open(check.patch, SealingContext.profile(in: message.id))
        guard case .object(let patch)? = try? JSON.parse(bytes) else { throw .unreadable }
        var person: Person
        let (key, version, home): (DataKey, Int64, RoutingKey)
        switch check.target {
        case .user(let id):
            guard let account = records.users[id] else { throw .unauthenticated }
            (key, version, home) = (account.key, account.profileVersion, routing.routingKey(of: id))
            person = account.person
        case .onboarding(let id):
            guard let session = records.onboarding[id] else { throw .unauthenticated }
            if session.isCompleted { throw Stop(outcome: .onboardingCompleted) }
            (key, version, home) = (session.key, session.profileVersion, routing.routingKey(of: id))
            person = session.person
        }
        for (name, value) in patch { person.profile[name] = value.isNull ? JSON?.none : value }
        return .command(
            UpdateProfile(
                target: check.target, profile: key.seal(JSON.object(person.profile).serialized(), as: .profile),
                profileVersion: version, person: seal(person.json, for: message)), home)
    }

    func user(_ read: ReadUser, _ message: InboxMessage, _ records: AccountDirectory.Records) throws(Stop) -> Outcome {
        guard let account = records.users[read.user], !account.isDisabled else { throw .unauthenticated }
        return .reply(
            Reply(
                outcome: .ok, data: ["user": account.summary.answer],
                boxes: [seal(account.person.json, for: message)].compactMap(\.self)))
    }

    func onboarding(
        _ read: ReadOnboarding, _ message: InboxMessage, _ records: AccountDirectory.Records
    ) throws(Stop) -> Outcome {
        guard let session = records.onboarding[read.session] else { throw .unauthenticated }
        if session.isCompleted { throw Stop(outcome: .onboardingCompleted) }
        let summary = OnboardingSummary(
            session: session.session, channel: session.channel, verifiedAt: session.verifiedAt, expiresAt: session.expiresAt)
        return .reply(
            Reply(
                outcome: .ok, data: ["session": summary.answer],
                boxes: [seal(session.person.json, for: message)].compactMap(\.self)))
    }

    /// All of it is sealed: addresses and user agents are the person's.
    func sessions(_ read: ReadSessions, _ message: InboxMessage, _ records: AccountDirectory.Records) throws(Stop) -> Outcome {
        guard let account = records.users[read.user], !account.isDisabled else { throw .unauthenticated }
        let list = (records.sessions[read.user] ?? []).map { session -> JSON in
            let client = session.client.flatMap { account.key.open($0, as: .client) }.flatMap { try? JSON.parse($0) }
            return [
                "id": .string(session.session.text), "createdAt": .string(session.startedAt.rfc3339),
                "lastUsedAt": .string(session.refreshedAt.rfc3339), "client": client?["userAgent"] ?? .null,
                "address": client?["address"]?.string.map { .string(Mask.outline(of: $0)) } ?? .null,
                "current": .bool(session.session == read.current),
            ]
        }
        return .reply(
            Reply(outcome: .ok, boxes: [seal(["sessions": .array(list)], for: message)].compactMap(\.self)))
    }
}
