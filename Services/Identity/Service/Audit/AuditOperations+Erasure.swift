internal import EventLog
internal import EventSchema
internal import Postgres
internal import Projections
internal import Runtime

/// What the log says of a user who may have been erased.
private struct ErasedHistory {
    var erasure: EventEnvelope?
    var events = 0
    /// Data keys of the user.
    var keys: Set<DataKeyID> = []
    /// Data keys of sign-ups for the same identifier that came to nothing or to another user, before the erasure.
    var otherKeys: Set<DataKeyID> = []
    /// What is encrypted, by type of event.
    var sealed: [String: Int] = [:]
    var contents: [SealedContent] = []
    private var sessions: [OnboardingSessionID: DataKeyID] = [:]

    /// Whether what is encrypted can be read is tried on so many events at most.
    private static let mostTried = 10_000

    mutating func take(_ event: EventEnvelope, of user: UserID) {
        let names = EventNames(event)
        let content = SealedContent(event)
        if let started = try? SchemaCodec.current.decode(OnboardingStarted.self, type: event.body.type, data: event.body.data) {
            sessions[started.session] = started.data.dataKey
            if erasure == nil { otherKeys.insert(started.data.dataKey) }
        }
        guard names.users.contains(user) else { return }
        events += 1
        for session in names.onboarding { if let key = sessions[session] { keys.insert(key) } }
        if let key = content.key { keys.insert(key) }
        otherKeys.subtract(keys)
        if !content.fields.isEmpty {
            sealed[TypeFilter.bare(event.body.type), default: 0] += 1
            if contents.count < Self.mostTried { contents.append(content) }
        }
        if event.body.type == MessageType.userErased.name { erasure = event }
    }
}

extension AuditOperations {
    /// Says when and by what a user was erased, and makes sure that nothing readable is left.
    func erased(_ user: UserID, _ stop: StopFlag, _ output: TextOutput) throws -> Int32 {
        var history = ErasedHistory()
        try eachEvent(at: access.routing.routingKey(of: user), stop) { history.take($0, of: user) }
        guard history.events > 0 else {
            Self.say("the log holds nothing of this user")
            return ExitStatus.failure
        }
        guard let erasure = history.erasure else {
            Self.say("this user was not erased")
            return ExitStatus.failure
        }
        let connection = try PostgresConnection(access.database)
        defer { connection.close() }
        let entries = try PersonalReading.entries(
            of: Array(history.keys.union(history.otherKeys)), in: IdentityKeys.schema, over: connection)
        var lines = [
            ("user", user.text), ("erased", erasure.time.rfc3339),
            ("by", "event \(erasure.id) at \(erasure.partition), offset \(erasure.offset)"),
            ("command", erasure.causation?.text ?? "unknown"), ("events", "\(history.events) in the log"),
        ]
        for key in history.keys.sorted(by: { $0.text < $1.text }) {
            let entry = entries[key]
            let state = entry?.destroyedAt.map { "destroyed \(Timestamp($0).rfc3339), \(entry?.reason ?? "")" }
            lines.append(("data key", "\(key) \(state ?? (entry == nil ? "missing" : "NOT destroyed"))"))
        }
        let sealed = history.sealed.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        lines.append(("encrypted", sealed.isEmpty ? "nothing" : sealed.joined(separator: ", ")))
        for (name, value) in lines {
            try output.write(name + String(repeating: " ", count: 11 - name.utf8.count) + value + "\n")
        }
        try output.write("\n")
        let checks = try checks(of: user, history, entries, connection)
        for (text, isRight) in checks { try output.write("\(isRight ? "yes" : "NO ")  \(text)\n") }
        try output.flush()
        return checks.allSatisfy(\.1) ? 0 : ExitStatus.failure
    }

    private func checks(
        of user: UserID, _ history: ErasedHistory, _ entries: [DataKeyID: PersonalReading.Entry],
        _ connection: PostgresConnection
    ) throws -> [(String, Bool)] {
        let unreadable = history.contents.allSatisfy { content in
            let keys = content.key.map { [$0] } ?? Array(history.keys)
            return keys.allSatisfy { id in
                guard let wrapped = entries[id]?.wrapped, let key = access.keys.unwrap(wrapped, as: id) else { return true }
                return content.fields.allSatisfy { key.open($0.ciphertext, as: $0.field) == nil }
            }
        }
        let id = PostgresUUID(user.bytes)
        let left = try connection.query(
            """
            SELECT
                (SELECT count(*) FROM identity.users WHERE id = \(id)
                    AND (erased_at IS NULL OR password_hash IS NOT NULL OR profile IS NOT NULL)),
                (SELECT count(*) FROM identity.identifiers WHERE user_id = \(id)),
                (SELECT count(*) FROM identity.sessions WHERE user_id = \(id)),
                (SELECT count(*) FROM identity.devices WHERE user_id = \(id))
            """
        ).decode(Int64.self, Int64.self, Int64.self, Int64.self)[0]
        let isDestroyed = !history.keys.isEmpty && history.keys.allSatisfy { entries[$0]?.wrapped == nil }
        let others = history.otherKeys.filter { entries[$0]?.wrapped != nil }
        var checks = [
            ("the user's data keys are destroyed", isDestroyed),
            ("nothing that is encrypted in \(history.contents.count) events can be read", unreadable),
            ("the projection holds no password hash and no profile of the user", left.0 == 0),
            ("no identifier is left of the user", left.1 == 0),
            ("no session and no device is left of the user", left.2 == 0 && left.3 == 0),
        ]
        if !others.isEmpty {
            // Somebody signs up with the same identifier: that is not the erased user's.
            let live = try connection.query(
                """
                SELECT data_key FROM identity.onboarding_sessions WHERE status = 'active'
                UNION ALL SELECT data_key FROM identity.users WHERE erased_at IS NULL
                """
            ).column(PostgresUUID.self).compactMap { DataKeyID(bytes: $0.bytes) }
            checks.append(("sign-ups for the identifier that came to nothing left no key", others.isSubset(of: Set(live))))
        }
        return checks
    }
}
