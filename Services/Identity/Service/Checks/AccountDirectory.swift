internal import EventSchema
internal import Postgres
internal import Projections

/// Reads accounts, with their data keys, out of Identity's projection: all that a batch of checks needs in one round trip.
struct AccountDirectory: Sendable {
    struct Request: Sendable {
        var subjects: Set<Subject> = []
        var users: Set<UserID> = []
        var onboarding: Set<OnboardingSessionID> = []
        /// Users whose live sessions are asked for.
        var sessionsOf: Set<UserID> = []
        /// Identifiers and devices of which is asked whether logins are blocked.
        var logins: Set<Subject> = []
        var loginDevices: Set<Digest> = []
        /// Keys to make unless they are there.
        var newKeys: Set<DataKeyID> = []
    }

    struct Records: Sendable {
        var users: [UserID: AccountRecord] = [:]
        var userOfSubject: [Subject: UserID] = [:]
        var onboarding: [OnboardingSessionID: OnboardingRecord] = [:]
        var sessions: [UserID: [SessionRecord]] = [:]
        var newKeys: [DataKeyID: DataKey] = [:]
        var blocks = LoginBlocks()

        func account(of subject: Subject) -> AccountRecord? { userOfSubject[subject].flatMap { users[$0] } }
    }

    let keys: DataKeyStore
    var schema = "identity"
    var keySchema = IdentityKeys.schema

    /// Blocks.
    ///
    /// - Parameter now: the log's clock. Where it is not known, no login is known to be blocked.
    func look(
        up request: Request, at now: Timestamp? = nil, over connection: PostgresConnection
    ) throws(PostgresError) -> Records {
        var records = Records()
        let questions = questions(request, at: now)
        let answers = try connection.batch(questions.map(\.statement))
        for (question, rows) in zip(questions, answers) { try add(rows, of: question.kind, to: &records) }
        // After the reading: a failure before it must not leave keys that nobody asks for again.
        records.newKeys = try keys.make(Array(request.newKeys), over: connection)
        return records
    }

    /// What one statement asks for.
    private enum Question {
        case users, identifiers, onboarding, sessions, blockedIdentifiers, blockedDevices
    }

    /// Nothing is asked that the request does not name.
    private func questions(_ request: Request, at now: Timestamp?) -> [(kind: Question, statement: SQL)] {
        var questions: [(kind: Question, statement: SQL)] = []
        if !request.subjects.isEmpty || !request.users.isEmpty || !request.sessionsOf.isEmpty {
            questions += [(.users, users(request)), (.identifiers, identifiers(request))]
        }
        if !request.onboarding.isEmpty { questions.append((.onboarding, onboarding(request))) }
        if !request.sessionsOf.isEmpty { questions.append((.sessions, sessions(request))) }
        if let now, !request.logins.isEmpty {
            questions.append((.blockedIdentifiers, LoginBlocks.identifiers(request.logins, at: now, schema: schema)))
        }
        if let now, !request.loginDevices.isEmpty {
            questions.append((.blockedDevices, LoginBlocks.devices(request.loginDevices, at: now, schema: schema)))
        }
        return questions
    }

    // MARK: Statements

    /// The users that are meant, by themselves or by an identifier; for each of them a subquery follows, which OFFSET keeps one:
    /// the planner would go through whole tables while they are small, and keep to it when they grow.
    private func wanted(_ request: Request) -> SQL {
        let users = request.users.union(request.sessionsOf)
        return """
            (SELECT unnest(\(users.map { PostgresUUID($0.bytes) }))
            UNION SELECT user_id FROM \(unsafe: schema).identifiers WHERE subject = ANY (\(request.subjects.map(\.bytes)))) \
            AS wanted (id)
            """
    }

    private func users(_ request: Request) -> SQL {
        """
        SELECT account.* FROM \(wanted(request)) CROSS JOIN LATERAL (
            SELECT account.id, credential_version, profile_version, disabled, account.created_at, groups, data_key, key.wrapped,
                password_hash, profile
            FROM \(unsafe: schema).users AS account
            JOIN \(unsafe: keySchema).data_keys AS key ON key.id = account.data_key AND key.wrapped IS NOT NULL
            WHERE account.id = wanted.id AND erased_at IS NULL AND password_hash IS NOT NULL OFFSET 0) AS account
        """
    }

    private func identifiers(_ request: Request) -> SQL {
        """
        SELECT own.user_id, own.subject, own.channel, own.identifier, own.verified_at
        FROM \(wanted(request)) CROSS JOIN LATERAL (
            SELECT * FROM \(unsafe: schema).identifiers WHERE user_id = wanted.id OFFSET 0) AS own
        ORDER BY own.attached_at, own.subject
        """
    }

    private func onboarding(_ request: Request) -> SQL {
        """
        SELECT session.id, session.channel, session.status, session.verified_at, session.expires_at, session.data_key,
            key.wrapped, coalesce(account.profile_version, session.profile_version), coalesce(own.identifier, session.identifier),
            CASE WHEN account.id IS NULL THEN session.profile ELSE account.profile END
        FROM \(unsafe: schema).onboarding_sessions AS session
        JOIN \(unsafe: keySchema).data_keys AS key ON key.id = session.data_key AND key.wrapped IS NOT NULL
        LEFT JOIN \(unsafe: schema).users AS account ON account.id = session.user_id
        LEFT JOIN \(unsafe: schema).identifiers AS own ON own.user_id = account.id AND own.subject = session.subject
        WHERE session.id = ANY (\(request.onboarding.map { PostgresUUID($0.bytes) }))
            AND session.status IN ('active', 'completed')
        """
    }

    private func sessions(_ request: Request) -> SQL {
        """
        SELECT user_id, id, started_at, refreshed_at, client FROM \(unsafe: schema).sessions
        WHERE user_id = ANY (\(request.sessionsOf.map { PostgresUUID($0.bytes) }))
            AND expires_at > now() AND refreshed_at > now() - interval '30 days'
        ORDER BY refreshed_at DESC, id
        """
    }

    // MARK: Rows

    private func add(_ rows: PostgresRows, of question: Question, to records: inout Records) throws(PostgresError) {
        switch question {
        case .users:
            for row in rows {
                if let account = try account(in: row) { records.users[account.user] = account }
            }
        case .identifiers: for row in rows { try addIdentifier(row, to: &records) }
        case .onboarding:
            for row in rows {
                if let session = try onboarding(in: row) { records.onboarding[session.session] = session }
            }
        case .sessions: for row in rows { try addSession(row, to: &records) }
        case .blockedIdentifiers: try records.blocks.block(identifiers: rows)
        case .blockedDevices: try records.blocks.block(devices: rows)
        }
    }

    private func addIdentifier(_ row: PostgresRow, to records: inout Records) throws(PostgresError) {
        guard let user = try row.decode(0, as: PostgresUUID?.self).flatMap({ UserID(bytes: $0.bytes) }),
            let subject = Subject(bytes: try row.decode(1, as: [UInt8].self)),
            let channel = Channel(rawValue: try row.decode(2)),
            let encrypted = Ciphertext(bytes: try row.decode(3, as: [UInt8].self))
        else { throw PostgresError(.mismatch, "a row of identifiers cannot be read") }
        records.userOfSubject[subject] = user
        records.users[user]?.identifiers.append(
            AccountRecord.Identifier(
                subject: subject, channel: channel, encrypted: encrypted, verifiedAt: try time(in: row, 4)))
    }

    private func addSession(_ row: PostgresRow, to records: inout Records) throws(PostgresError) {
        guard let user = UserID(bytes: try row.decode(0, as: PostgresUUID.self).bytes),
            let id = SessionID(bytes: try row.decode(1, as: PostgresUUID.self).bytes)
        else { throw PostgresError(.mismatch, "a row of sessions cannot be read") }
        records.sessions[user, default: []].append(
            SessionRecord(
                session: id, startedAt: Timestamp(try row.decode(2, as: PostgresTimestamp.self)),
                refreshedAt: Timestamp(try row.decode(3, as: PostgresTimestamp.self)),
                client: try row.decode(4, as: [UInt8]?.self).flatMap { Ciphertext(bytes: $0) }))
    }

    private func account(in row: PostgresRow) throws(PostgresError) -> AccountRecord? {
        guard let user = UserID(bytes: try row.decode(0, as: PostgresUUID.self).bytes),
            let hash = Ciphertext(bytes: try row.decode(8, as: [UInt8].self))
        else { throw PostgresError(.mismatch, "a row of users cannot be read") }
        guard let key = try key(in: row, 6) else { return nil }
        return AccountRecord(
            user: user, credentialVersion: try row.decode(1), profileVersion: try row.decode(2), isDisabled: try row.decode(3),
            createdAt: Timestamp(try row.decode(4, as: PostgresTimestamp.self)), groups: try row.decode(5), key: key,
            passwordHash: hash, profile: try row.decode(9, as: [UInt8]?.self).flatMap { Ciphertext(bytes: $0) })
    }

    private func onboarding(in row: PostgresRow) throws(PostgresError) -> OnboardingRecord? {
        guard let id = OnboardingSessionID(bytes: try row.decode(0, as: PostgresUUID.self).bytes),
            let channel = Channel(rawValue: try row.decode(1))
        else { throw PostgresError(.mismatch, "a row of onboarding sessions cannot be read") }
        guard let key = try key(in: row, 5) else { return nil }
        return OnboardingRecord(
            session: id, channel: channel, isCompleted: try row.decode(2, as: String.self) == "completed",
            verifiedAt: try time(in: row, 3), expiresAt: Timestamp(try row.decode(4, as: PostgresTimestamp.self)), key: key,
            profileVersion: try row.decode(7),
            identifier: try row.decode(8, as: [UInt8]?.self).flatMap { Ciphertext(bytes: $0) },
            profile: try row.decode(9, as: [UInt8]?.self).flatMap { Ciphertext(bytes: $0) })
    }

    /// The key whose id and wrapped form stand in this column and the next.
    private func key(in row: PostgresRow, _ column: Int) throws(PostgresError) -> DataKey? {
        guard let id = DataKeyID(bytes: try row.decode(column, as: PostgresUUID.self).bytes) else { return nil }
        return keys.unwrap(try row.decode(column + 1, as: [UInt8].self), as: id)
    }

    private func time(in row: PostgresRow, _ column: Int) throws(PostgresError) -> Timestamp? {
        try row.decode(column, as: PostgresTimestamp?.self).map { Timestamp($0) }
    }
}
