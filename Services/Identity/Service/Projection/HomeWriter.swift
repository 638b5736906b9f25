internal import EventSchema
internal import IdentityDomain
internal import Postgres
internal import Projections

/// The statements that bring the rows of homes up to date. Each changes rows of partitions in `passed` alone.
struct HomeWriter: Sendable {
    let schema: String
    let keySchema: String
    let passed: SQL

    /// In an order in which what one event changes in several tables fits together. Only those that have something to do.
    ///
    /// Keys are destroyed once the row that names them is locked and says that it is over: whoever puts keys of a backup back
    /// locks that row too.
    func statements(_ changes: HomeChanges) -> [SQL] {
        [
            some(changes.identifierStamps, stampIdentifiers), some(changes.onboardingStamps, stampOnboarding),
            some(changes.flags, keepFlags), some(changes.usedFlags, useFlags), some(changes.droppedFlags, dropFlags),
            some(changes.onboardingEnds, endOnboarding), some(changes.onboardingEnds, destroyKeys),
            some(changes.onboardingEnds, dropIfOver), some(changes.onboarding, insertOnboarding), some(changes.notices, notice),
            some(changes.users, insertUsers), some(changes.users, insertIdentifiers), some(changes.completions, complete),
            some(changes.ended, endSessions), some(changes.droppedDevices, dropDevices),
            some(changes.sessions, insertSessions), some(changes.refreshes, refresh), some(changes.failedChecks, countChecks),
            some(changes.devices, insertDevices), some(changes.deviceFailures, countDeviceFailures),
            some(changes.forgivenUsers, forgiveDevices), some(changes.failures, countFailures),
            some(changes.forgivenSubjects, forgive),
            some(changes.passwords, setPasswords), some(changes.userProfiles, setUserProfiles),
            some(changes.onboardingProfiles, setOnboardingProfiles), some(changes.groups, setGroups),
            some(changes.statuses, setStatuses), some(changes.erased, erase), some(changes.erased, destroyKeys),
            some(changes.erased, dropDevicesOfErased), some(changes.erased, dropOnboardingOfErased),
            some(changes.freed, freeIdentifiers), some(changes.freed, dropFlags),
        ].compactMap { $0 }
    }

    private func some<Row>(_ rows: [Row], _ statement: ([Row]) -> SQL) -> SQL? { rows.isEmpty ? nil : statement(rows) }

    /// What is of no more use at these times of partitions.
    func housekeeping(at times: [Int: Timestamp]) -> [SQL] {
        let partitions = times.keys.sorted()
        func drop(_ table: String, where column: String, after interval: Interval, and condition: String = "true") -> SQL {
            """
            DELETE FROM \(unsafe: schema).\(unsafe: table) AS old
            USING unnest(\(partitions.map(Int32.init)), \(partitions.map { PostgresTimestamp((times[$0] ?? .init(milliseconds: 0)) - interval) }))
                AS batch(partition, time)
            WHERE old.partition = batch.partition AND old.\(unsafe: column) < batch.time AND batch.partition IN \(passed)
                AND \(unsafe: condition)
            """
        }
        return [
            drop("verified_contacts", where: "expires_at", after: Keeping.proofs),
            drop("onboarding_sessions", where: "expires_at", after: Keeping.onboarding, and: "status <> 'active'"),
            drop("sessions", where: "expires_at", after: Keeping.sessions),
            drop("ended_sessions", where: "ended_at", after: Keeping.endedSessions),
            drop("login_failures", where: "failed_at", after: Keeping.loginFailures),
        ]
    }

    /// The columns home, partition and time of a batch.
    func places<Row>(_ rows: [HomeChanges.At<Row>]) -> SQL {
        """
        \(rows.map(\.place.home.bytes)), \(rows.map { Int32($0.place.partition) }), \(rows.map { PostgresTimestamp($0.place.time) })
        """
    }

    func ids(_ ids: [some UUIDIdentifier]) -> [PostgresUUID] { ids.map { PostgresUUID($0.bytes) } }
    func ids(_ ids: [(some UUIDIdentifier)?]) -> [PostgresUUID?] { ids.map { $0.map { PostgresUUID($0.bytes) } } }
    func times(_ times: [Timestamp?]) -> [PostgresTimestamp?] { times.map { $0.map { PostgresTimestamp($0) } } }
}
