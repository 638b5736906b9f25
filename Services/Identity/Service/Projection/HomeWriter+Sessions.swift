internal import Crypto
internal import EventSchema
internal import IdentityDomain
internal import Postgres
internal import Projections

/// Sessions, devices, and budgets of failed logins.
extension HomeWriter {
    func insertSessions(_ sessions: [At<HomeChanges.NewSession>]) -> SQL {
        """
        INSERT INTO \(unsafe: schema).sessions (id, home, partition, user_id, started_at, expires_at, refreshed_at, refresh,
            failed_checks, device, client)
        SELECT id, home, partition, user_id, time, expires_at, time, refresh, 0, device, client
        FROM unnest(\(places(sessions)), \(ids(sessions.map(\.row.session.session))), \(ids(sessions.map(\.row.user))),
            \(sessions.map { PostgresTimestamp($0.row.session.expiresAt) }), \(sessions.map(\.row.session.refresh.bytes)),
            \(sessions.map(\.row.session.device.bytes)), \(sessions.map(\.row.session.client?.bytes)))
            AS batch(home, partition, time, id, user_id, expires_at, refresh, device, client)
        WHERE partition IN \(passed)
        """
    }

    func refresh(_ refreshes: [At<SessionRefreshed>]) -> SQL {
        """
        UPDATE \(unsafe: schema).sessions AS session
        SET previous = session.refresh, refresh = batch.refresh, successor = batch.successor, refreshed_at = batch.time
        FROM unnest(\(places(refreshes)), \(ids(refreshes.map(\.row.session))), \(refreshes.map(\.row.refresh.bytes)),
            \(refreshes.map(\.row.successor.encoded))) AS batch(home, partition, time, id, refresh, successor)
        WHERE session.id = batch.id AND session.partition IN \(passed)
        """
    }

    func countChecks(_ counts: [At<(session: SessionID, failures: Int64)>]) -> SQL {
        """
        UPDATE \(unsafe: schema).sessions AS session SET failed_checks = batch.failures
        FROM unnest(\(ids(counts.map(\.row.session))), \(counts.map(\.row.failures))) AS batch(id, failures)
        WHERE session.id = batch.id AND session.partition IN \(passed)
        """
    }

    func endSessions(_ sessions: [At<SessionID>]) -> SQL {
        """
        WITH ended AS (
            DELETE FROM \(unsafe: schema).sessions AS session
            USING unnest(\(places(sessions)), \(ids(sessions.map(\.row)))) AS batch(home, partition, time, id)
            WHERE session.id = batch.id AND session.partition IN \(passed)
            RETURNING session.id, session.partition, session.user_id, batch.time
        )
        INSERT INTO \(unsafe: schema).ended_sessions (id, partition, user_id, ended_at) SELECT * FROM ended
        ON CONFLICT DO NOTHING
        """
    }

    // MARK: Devices

    func insertDevices(_ devices: [At<(user: UserID, device: Digest)>]) -> SQL {
        """
        INSERT INTO \(unsafe: schema).devices (home, partition, issued_at, digest, user_id)
        SELECT home, partition, time, digest, user_id
        FROM unnest(\(places(devices)), \(devices.map(\.row.device.bytes)), \(ids(devices.map(\.row.user))))
            AS batch(home, partition, time, digest, user_id)
        WHERE partition IN \(passed)
        """
    }

    func dropDevices(_ devices: [At<Digest>]) -> SQL {
        "DELETE FROM \(unsafe: schema).devices WHERE digest = ANY (\(devices.map(\.row.bytes))) AND partition IN \(passed)"
    }

    func countDeviceFailures(_ counts: [At<HomeChanges.DeviceFailures>]) -> SQL {
        """
        UPDATE \(unsafe: schema).devices AS device
        SET failures = batch.failures, failed_at = CASE WHEN batch.failures > 0 THEN batch.time END,
            blocked_until = batch.blocked_until
        FROM unnest(\(places(counts)), \(counts.map(\.row.device.bytes)), \(counts.map { $0.row.failed?.failures ?? 0 }),
            \(times(counts.map { $0.row.failed?.blockedUntil }))) AS batch(home, partition, time, digest, failures, blocked_until)
        WHERE device.digest = batch.digest AND device.partition IN \(passed)
        """
    }

    func forgiveDevices(_ users: [At<UserID>]) -> SQL {
        """
        UPDATE \(unsafe: schema).devices SET failures = 0, failed_at = NULL, blocked_until = NULL
        WHERE user_id = ANY (\(ids(users.map(\.row)))) AND partition IN \(passed)
        """
    }

    // MARK: Budgets of identifiers

    func countFailures(_ failures: [At<HomeChanges.Failures>]) -> SQL {
        """
        INSERT INTO \(unsafe: schema).login_failures (home, partition, failed_at, subject, address, failures, blocked_until)
        SELECT home, partition, time, subject, address, failures, blocked_until
        FROM unnest(\(places(failures)), \(failures.map(\.row.subject.bytes)), \(failures.map { $0.row.address?.bytes ?? [] }),
            \(failures.map(\.row.failed.failures)), \(times(failures.map(\.row.failed.blockedUntil))))
            AS batch(home, partition, time, subject, address, failures, blocked_until)
        WHERE partition IN \(passed)
        ON CONFLICT (subject, address) DO UPDATE
        SET failures = excluded.failures, failed_at = excluded.failed_at, blocked_until = excluded.blocked_until
        """
    }

    func forgive(_ subjects: [At<Subject>]) -> SQL {
        """
        DELETE FROM \(unsafe: schema).login_failures
        WHERE subject = ANY (\(subjects.map(\.row.bytes))) AND partition IN \(passed)
        """
    }
}
