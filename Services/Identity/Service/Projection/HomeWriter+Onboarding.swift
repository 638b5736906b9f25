internal import Crypto
internal import EventSchema
internal import IdentityDomain
internal import Postgres
internal import Projections

/// Proofs and onboarding sessions.
extension HomeWriter {
    typealias At = HomeChanges.At

    func stampIdentifiers(_ stamps: [At<HomeChanges.Stamp<Subject>>]) -> SQL {
        """
        UPDATE \(unsafe: schema).identifiers AS identifier SET verified_at = batch.verified_at
        FROM unnest(\(stamps.map(\.row.id.bytes)), \(stamps.map { PostgresTimestamp($0.row.verifiedAt) }))
            AS batch(subject, verified_at)
        WHERE identifier.subject = batch.subject AND identifier.verified_at IS NULL AND identifier.partition IN \(passed)
        """
    }

    func stampOnboarding(_ stamps: [At<HomeChanges.Stamp<OnboardingSessionID>>]) -> SQL {
        """
        UPDATE \(unsafe: schema).onboarding_sessions AS session SET verified_at = batch.verified_at
        FROM unnest(\(ids(stamps.map(\.row.id))), \(stamps.map { PostgresTimestamp($0.row.verifiedAt) })) AS batch(id, verified_at)
        WHERE session.id = batch.id AND session.verified_at IS NULL AND session.partition IN \(passed)
        """
    }

    func keepFlags(_ flags: [At<ContactVerified>]) -> SQL {
        """
        INSERT INTO \(unsafe: schema).verified_contacts
            (subject, home, partition, channel, confirmation, command, verified_at, expires_at, waiting)
        SELECT subject, home, partition, channel, confirmation, command, verified_at, expires_at, true
        FROM unnest(\(places(flags)), \(flags.map(\.row.subject.bytes)), \(flags.map(\.row.channel.rawValue)),
            \(ids(flags.map(\.row.confirmation))), \(ids(flags.map(\.row.command))),
            \(flags.map { PostgresTimestamp($0.row.verifiedAt) }), \(times(flags.map(\.row.flagUntil))))
            AS batch(home, partition, time, subject, channel, confirmation, command, verified_at, expires_at)
        WHERE partition IN \(passed)
        ON CONFLICT (subject) DO UPDATE
        SET confirmation = excluded.confirmation, command = excluded.command, verified_at = excluded.verified_at,
            expires_at = excluded.expires_at, waiting = true
        """
    }

    func useFlags(_ subjects: [At<Subject>]) -> SQL {
        """
        UPDATE \(unsafe: schema).verified_contacts SET waiting = false
        WHERE subject = ANY (\(subjects.map(\.row.bytes))) AND partition IN \(passed)
        """
    }

    func dropFlags(_ subjects: [At<Subject>]) -> SQL {
        """
        DELETE FROM \(unsafe: schema).verified_contacts
        WHERE subject = ANY (\(subjects.map(\.row.bytes))) AND partition IN \(passed)
        """
    }

    /// Drops those that ended so late that there is nothing to keep them for: the look through for their minute may have been.
    func dropIfOver(_ ends: [At<HomeChanges.OnboardingEnd>]) -> SQL {
        """
        DELETE FROM \(unsafe: schema).onboarding_sessions AS session
        USING unnest(\(ids(ends.map(\.row.id))),
            \(times(ends.map { $0.place.time.startOfMinute - Keeping.onboarding }))) AS batch(id, time)
        WHERE session.id = batch.id AND session.expires_at < batch.time AND session.partition IN \(passed)
        """
    }

    func insertOnboarding(_ started: [At<OnboardingStarted>]) -> SQL {
        let data = started.map(\.row.data)
        return """
            INSERT INTO \(unsafe: schema).onboarding_sessions (id, home, partition, subject, channel, status, proof, created_at,
                expires_at, verified_at, data_key, identifier, password_hash, profile, profile_version)
            SELECT id, home, partition, subject, channel, 'active', proof, time, expires_at, verified_at, data_key, identifier,
                password_hash, profile, 0
            FROM unnest(\(places(started)), \(ids(started.map(\.row.session))), \(started.map(\.row.subject.bytes)),
                \(started.map(\.row.channel.rawValue)), \(started.map(\.row.proof.rawValue)),
                \(started.map { PostgresTimestamp($0.row.expiresAt) }), \(times(started.map(\.row.verifiedAt))),
                \(ids(data.map(\.dataKey))), \(data.map(\.identifier.bytes)), \(data.map(\.passwordHash.bytes)),
                \(data.map(\.profile?.bytes)))
                AS batch(home, partition, time, id, subject, channel, proof, expires_at, verified_at, data_key, identifier,
                    password_hash, profile)
            WHERE partition IN \(passed)
            """
    }

    func endOnboarding(_ ends: [At<HomeChanges.OnboardingEnd>]) -> SQL {
        """
        UPDATE \(unsafe: schema).onboarding_sessions AS session
        SET status = batch.status, identifier = NULL, password_hash = NULL, profile = NULL
        FROM unnest(\(ids(ends.map(\.row.id))), \(ends.map(\.row.status))) AS batch(id, status)
        WHERE session.id = batch.id AND session.partition IN \(passed)
        """
    }

    func destroyKeys(_ ends: [At<HomeChanges.OnboardingEnd>]) -> SQL {
        """
        UPDATE \(unsafe: keySchema).data_keys AS key SET wrapped = NULL, destroyed_at = now(), reason = batch.reason
        FROM unnest(\(ids(ends.map(\.row.id))), \(ends.map(\.row.status))) AS batch(id, reason)
        JOIN \(unsafe: schema).onboarding_sessions AS session USING (id)
        WHERE key.id = session.data_key AND key.wrapped IS NOT NULL
        """
    }

    func notice(_ subjects: [At<Subject>]) -> SQL {
        """
        INSERT INTO \(unsafe: schema).sign_up_notices (home, partition, noticed_at, subject)
        SELECT home, partition, time, subject FROM unnest(\(places(subjects)), \(subjects.map(\.row.bytes)))
            AS batch(home, partition, time, subject)
        WHERE partition IN \(passed)
        ON CONFLICT (subject) DO UPDATE SET noticed_at = excluded.noticed_at
        """
    }

    /// What it held is its user's now.
    func complete(_ completions: [At<HomeChanges.Completion>]) -> SQL {
        """
        UPDATE \(unsafe: schema).onboarding_sessions AS session
        SET status = 'completed', identifier = NULL, password_hash = NULL, profile = NULL, completed_at = batch.time,
            user_id = batch.user_id, session_id = batch.session_id, successor = batch.successor
        FROM unnest(\(places(completions)), \(ids(completions.map(\.row.id))), \(ids(completions.map(\.row.user))),
            \(ids(completions.map(\.row.session))), \(completions.map(\.row.successor?.encoded)))
            AS batch(home, partition, time, id, user_id, session_id, successor)
        WHERE session.id = batch.id AND session.partition IN \(passed)
        """
    }

    func setOnboardingProfiles(_ profiles: [At<HomeChanges.Profile<OnboardingSessionID>>]) -> SQL {
        """
        UPDATE \(unsafe: schema).onboarding_sessions AS session
        SET profile = batch.profile, profile_version = batch.version
        FROM unnest(\(ids(profiles.map(\.row.id))), \(profiles.map(\.row.profile.bytes)), \(profiles.map(\.row.version)))
            AS batch(id, profile, version)
        WHERE session.id = batch.id AND session.partition IN \(passed)
        """
    }
}
