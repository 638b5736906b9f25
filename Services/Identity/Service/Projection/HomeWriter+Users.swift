internal import EventSchema
internal import IdentityDomain
internal import JSON
internal import Postgres
internal import Projections

/// Users and their identifiers.
extension HomeWriter {
    func insertUsers(_ users: [At<HomeChanges.NewUser>]) -> SQL {
        let data = users.map(\.row.data)
        return """
            INSERT INTO \(unsafe: schema).users (id, home, partition, created_at, credential_version, proven, disabled, groups,
                data_key, password_hash, profile, profile_version)
            SELECT batch.id, batch.home, batch.partition, batch.created_at, 0, batch.proven, batch.disabled,
                ARRAY(SELECT jsonb_array_elements_text(batch.groups::jsonb)), coalesce(batch.data_key, session.data_key),
                coalesce(batch.password_hash, session.password_hash), coalesce(batch.profile, session.profile),
                coalesce(session.profile_version, 0)
            FROM unnest(\(places(users)), \(ids(users.map(\.row.user.user))),
                \(users.map { PostgresTimestamp($0.row.user.createdAt) }), \(users.map(\.row.proven)),
                \(users.map(\.row.disabled)), \(users.map { Self.text($0.row.user.groups) }),
                \(ids(data.map { $0?.dataKey })), \(data.map { $0?.passwordHash.bytes }), \(data.map { $0?.profile?.bytes }),
                \(ids(users.map(\.row.completed))))
                AS batch(home, partition, time, id, created_at, proven, disabled, groups, data_key, password_hash, profile,
                    completed)
            LEFT JOIN \(unsafe: schema).onboarding_sessions AS session ON session.id = batch.completed
            WHERE batch.partition IN \(passed)
            """
    }

    func insertIdentifiers(_ users: [At<HomeChanges.NewUser>]) -> SQL {
        let stamps = users.map { $0.row.channel == .email ? $0.row.user.emailVerifiedAt : $0.row.user.phoneVerifiedAt }
        return """
            INSERT INTO \(unsafe: schema).identifiers
                (subject, home, partition, channel, user_id, attached_at, verified_at, identifier)
            SELECT batch.subject, batch.home, batch.partition, batch.channel, batch.user_id, batch.time, batch.verified_at,
                coalesce(batch.identifier, session.identifier)
            FROM unnest(\(places(users)), \(users.map(\.row.subject.bytes)), \(users.map(\.row.channel.rawValue)),
                \(ids(users.map(\.row.user.user))), \(times(stamps)), \(users.map { $0.row.data?.identifier.bytes }),
                \(ids(users.map(\.row.completed))))
                AS batch(home, partition, time, subject, channel, user_id, verified_at, identifier, completed)
            LEFT JOIN \(unsafe: schema).onboarding_sessions AS session ON session.id = batch.completed
            WHERE batch.partition IN \(passed)
            """
    }

    func setPasswords(_ passwords: [At<HomeChanges.Password>]) -> SQL {
        """
        UPDATE \(unsafe: schema).users AS account
        SET password_hash = batch.hash, credential_version = coalesce(batch.version, account.credential_version),
            proven = account.proven OR batch.proves
        FROM unnest(\(ids(passwords.map(\.row.user))), \(passwords.map(\.row.hash.bytes)), \(passwords.map(\.row.version)),
            \(passwords.map(\.row.proves))) AS batch(id, hash, version, proves)
        WHERE account.id = batch.id AND account.partition IN \(passed)
        """
    }

    func setUserProfiles(_ profiles: [At<HomeChanges.Profile<UserID>>]) -> SQL {
        """
        UPDATE \(unsafe: schema).users AS account SET profile = batch.profile, profile_version = batch.version
        FROM unnest(\(ids(profiles.map(\.row.id))), \(profiles.map(\.row.profile.bytes)), \(profiles.map(\.row.version)))
            AS batch(id, profile, version)
        WHERE account.id = batch.id AND account.partition IN \(passed)
        """
    }

    func setGroups(_ changes: [At<GroupsChanged>]) -> SQL {
        """
        UPDATE \(unsafe: schema).users AS account
        SET groups = ARRAY(SELECT jsonb_array_elements_text(batch.groups::jsonb))
        FROM unnest(\(ids(changes.map(\.row.user))), \(changes.map { Self.text($0.row.groups) })) AS batch(id, groups)
        WHERE account.id = batch.id AND account.partition IN \(passed)
        """
    }

    func setStatuses(_ changes: [At<(user: UserID, disabled: Bool)>]) -> SQL {
        """
        UPDATE \(unsafe: schema).users AS account SET disabled = batch.disabled
        FROM unnest(\(ids(changes.map(\.row.user))), \(changes.map(\.row.disabled))) AS batch(id, disabled)
        WHERE account.id = batch.id AND account.partition IN \(passed)
        """
    }

    // MARK: Erasure

    /// The row stays: its id is never given again.
    func erase(_ users: [At<UserID>]) -> SQL {
        """
        UPDATE \(unsafe: schema).users AS account
        SET erased_at = batch.time, password_hash = NULL, profile = NULL, groups = '{}'
        FROM unnest(\(places(users)), \(ids(users.map(\.row)))) AS batch(home, partition, time, id)
        WHERE account.id = batch.id AND account.partition IN \(passed)
        """
    }

    func destroyKeys(_ users: [At<UserID>]) -> SQL {
        """
        UPDATE \(unsafe: keySchema).data_keys AS key SET wrapped = NULL, destroyed_at = now(), reason = 'erased'
        FROM \(unsafe: schema).users AS account
        WHERE account.id = ANY (\(ids(users.map(\.row)))) AND key.id = account.data_key AND key.wrapped IS NOT NULL
        """
    }

    func dropDevicesOfErased(_ users: [At<UserID>]) -> SQL {
        "DELETE FROM \(unsafe: schema).devices WHERE user_id = ANY (\(ids(users.map(\.row)))) AND partition IN \(passed)"
    }

    func dropOnboardingOfErased(_ users: [At<UserID>]) -> SQL {
        """
        DELETE FROM \(unsafe: schema).onboarding_sessions AS session
        USING unnest(\(places(users)), \(ids(users.map(\.row)))) AS batch(home, partition, time, id)
        WHERE session.home = batch.home AND session.user_id = batch.id AND session.partition IN \(passed)
        """
    }

    func freeIdentifiers(_ subjects: [At<Subject>]) -> SQL {
        """
        DELETE FROM \(unsafe: schema).identifiers
        WHERE subject = ANY (\(subjects.map(\.row.bytes))) AND partition IN \(passed)
        """
    }

    /// A list of texts as one: arrays of arrays cannot be bound.
    private static func text(_ groups: [String]) -> String {
        String(decoding: JSON.array(groups.map { .string($0) }).serialized(), as: UTF8.self)
    }
}
