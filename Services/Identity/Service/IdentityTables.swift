public import EventLog
public import EventSchema
public import IdentityDomain
public import Postgres
public import Projections

/// Identity's projection: the tables of `Migrations`.
public struct IdentityTables: ProjectionTables {
    public let domain: IdentityPartition
    public let schema: String

    /// How long a proof that nobody consumed stays in its table after its time, by the time of later events.
    private static let keptAfterExpiry = Interval.days(1)

    public init(domain: IdentityPartition = IdentityPartition(), schema: String = "identity") {
        self.domain = domain
        self.schema = schema
    }

    // MARK: Reading

    /// One row for each identifier, or for each of its active sessions.
    public func reading(_ keys: [Subject]) -> SQL {
        """
        SELECT subject, identifier.user_id, identifier.verified_at, flag.confirmation, flag.verified_at, flag.expires_at,
            session.id, session.verified_at, session.expires_at
        FROM unnest(\(keys.map(\.bytes))) AS wanted(subject)
        LEFT JOIN \(unsafe: schema).identifiers AS identifier USING (subject)
        LEFT JOIN \(unsafe: schema).verified_contacts AS flag USING (subject)
        LEFT JOIN (SELECT * FROM \(unsafe: schema).onboarding_sessions WHERE status = 'active') AS session USING (subject)
        ORDER BY subject, session.created_at, session.id
        """
    }

    public func aggregates(in rows: PostgresRows) throws(PostgresError) -> [Subject: Contact.State] {
        var contacts: [Subject: Contact.State] = [:]
        for row in rows {
            guard let subject = Subject(bytes: try row.decode(0, as: [UInt8].self)) else {
                throw PostgresError(.mismatch, "a subject has another length than 16 bytes")
            }
            if contacts[subject] == nil {
                contacts[subject] = Contact.State(account: try account(in: row), flag: try flag(in: row))
            }
            if let session = try session(in: row) { contacts[subject]?.sessions.append(session) }
        }
        return contacts
    }

    private func account(in row: PostgresRow) throws(PostgresError) -> Contact.Account? {
        guard let user = try row.decode(1, as: PostgresUUID?.self) else { return nil }
        guard let user = UserID(bytes: user.bytes) else { throw PostgresError(.mismatch, "a user's id is none") }
        return Contact.Account(user: user, verifiedAt: try time(in: row, 2))
    }

    private func flag(in row: PostgresRow) throws(PostgresError) -> Contact.Flag? {
        guard let confirmation = try row.decode(3, as: PostgresUUID?.self).flatMap({ MessageID(bytes: $0.bytes) }),
            let verifiedAt = try time(in: row, 4), let until = try time(in: row, 5)
        else { return nil }
        return Contact.Flag(confirmation: confirmation, verifiedAt: verifiedAt, until: until)
    }

    private func session(in row: PostgresRow) throws(PostgresError) -> Contact.Session? {
        guard let id = try row.decode(6, as: PostgresUUID?.self).flatMap({ OnboardingSessionID(bytes: $0.bytes) }),
            let expiresAt = try time(in: row, 8)
        else { return nil }
        return Contact.Session(id: id, verifiedAt: try time(in: row, 7), expiresAt: expiresAt)
    }

    private func time(in row: PostgresRow, _ column: Int) throws(PostgresError) -> Timestamp? {
        try row.decode(column, as: PostgresTimestamp?.self).map { Timestamp($0) }
    }

    // MARK: Writing

    public func writing(_ events: [ConfirmedEvent<IdentityEvent>], where passed: SQL) -> [SQL] {
        let changes = ContactChanges(events)
        guard !changes.isEmpty else { return [] }
        return [
            stampIdentifiers(changes.stamps, passed), stampSessions(changes.sessionStamps, passed), keep(changes.flags, passed),
        ]
            + [dropFlags(before: changes.lastTimes, passed)]
    }

    private func stampIdentifiers(_ stamps: [ContactChanges.Stamp], _ passed: SQL) -> SQL {
        """
        UPDATE \(unsafe: schema).identifiers AS identifier SET verified_at = batch.verified_at
        FROM unnest(\(stamps.map(\.subject.bytes)), \(stamps.map { PostgresUUID($0.user.bytes) }),
            \(stamps.map { PostgresTimestamp($0.verifiedAt) })) AS batch(subject, user_id, verified_at)
        WHERE identifier.subject = batch.subject AND identifier.user_id = batch.user_id AND identifier.verified_at IS NULL
            AND identifier.partition IN \(passed)
        """
    }

    private func stampSessions(_ stamps: [ContactChanges.SessionStamp], _ passed: SQL) -> SQL {
        """
        UPDATE \(unsafe: schema).onboarding_sessions AS session SET verified_at = batch.verified_at
        FROM unnest(\(stamps.map { PostgresUUID($0.session.bytes) }), \(stamps.map { PostgresTimestamp($0.verifiedAt) }))
            AS batch(id, verified_at)
        WHERE session.id = batch.id AND session.verified_at IS NULL AND session.partition IN \(passed)
        """
    }

    private func keep(_ flags: [ContactChanges.Flag], _ passed: SQL) -> SQL {
        """
        INSERT INTO \(unsafe: schema).verified_contacts (subject, partition, channel, confirmation, verified_at, expires_at)
        SELECT subject, partition, channel, confirmation, verified_at, expires_at
        FROM unnest(\(flags.map(\.subject.bytes)), \(flags.map { Int32($0.partition) }), \(flags.map(\.channel.rawValue)),
            \(flags.map { PostgresUUID($0.flag.confirmation.bytes) }), \(flags.map { PostgresTimestamp($0.flag.verifiedAt) }),
            \(flags.map { PostgresTimestamp($0.flag.until) }))
            AS batch(subject, partition, channel, confirmation, verified_at, expires_at)
        WHERE partition IN \(passed)
        ON CONFLICT (subject) DO UPDATE
        SET confirmation = excluded.confirmation, verified_at = excluded.verified_at, expires_at = excluded.expires_at
        """
    }

    private func dropFlags(before times: [(partition: Int, time: Timestamp)], _ passed: SQL) -> SQL {
        """
        DELETE FROM \(unsafe: schema).verified_contacts AS flag
        USING unnest(\(times.map { Int32($0.partition) }), \(times.map { PostgresTimestamp($0.time - Self.keptAfterExpiry) }))
            AS batch(partition, time)
        WHERE flag.partition = batch.partition AND flag.expires_at < batch.time AND batch.partition IN \(passed)
        """
    }
}
