internal import EventSchema
internal import IdentityDomain
internal import Postgres
internal import Projections

extension HomeRecords {
    struct Session: HomeRow {
        static let table = "sessions"
        static let columns = [
            "id", "user_id", "started_at", "expires_at", "refreshed_at", "refresh", "previous", "successor", "failed_checks",
            "device", "client",
        ]

        var id: SessionID
        var user: UserID
        var startedAt: Timestamp
        var expiresAt: Timestamp
        var refreshedAt: Timestamp
        var refresh: [UInt8]
        var previous: [UInt8]?
        var successor: String?
        var failedChecks: Int64 = 0
        var device: [UInt8]
        var client: [UInt8]?

        func write(to rows: inout CopyRows) {
            rows.append(id: id)
            rows.append(id: user)
            rows.append(time: startedAt)
            rows.append(time: expiresAt)
            rows.append(time: refreshedAt)
            rows.append(raw: refresh)
            rows.append(raw: previous)
            rows.append(text: successor)
            rows.append(failedChecks)
            rows.append(raw: device)
            rows.append(raw: client)
        }
    }

    struct Device: HomeRow {
        static let table = "devices"
        static let columns = ["digest", "user_id", "issued_at", "failures", "failed_at", "blocked_until"]

        var digest: Digest
        var user: UserID
        var issuedAt: Timestamp
        var failures: Int64 = 0
        var failedAt: Timestamp?
        var blockedUntil: Timestamp?

        func write(to rows: inout CopyRows) {
            rows.append(raw: digest.bytes)
            rows.append(id: user)
            rows.append(time: issuedAt)
            rows.append(failures)
            rows.append(time: failedAt)
            rows.append(time: blockedUntil)
        }
    }

    struct LoginFailures: HomeRow {
        static let table = "login_failures"
        static let columns = ["subject", "address", "failures", "failed_at", "blocked_until"]

        struct Key: Hashable {
            var subject: Subject
            /// `nil`: from wherever they come.
            var address: AddressTag?
        }

        var key: Key
        var failures: Int64
        var failedAt: Timestamp
        var blockedUntil: Timestamp?

        func write(to rows: inout CopyRows) {
            rows.append(raw: key.subject.bytes)
            rows.append(raw: key.address?.bytes ?? [])
            rows.append(failures)
            rows.append(time: failedAt)
            rows.append(time: blockedUntil)
        }
    }
}

extension HomeRecords.Session {
    static func each(in records: HomeRecords, _ body: (Self) -> Void) { records.sessions.values.forEach(body) }
    func insert(into records: inout HomeRecords) { records.sessions[id] = self }

    init(_ cells: inout RowCells) throws(PostgresError) {
        id = try cells.id()
        user = try cells.id()
        startedAt = try cells.time()
        expiresAt = try cells.time()
        refreshedAt = try cells.time()
        refresh = try cells.next()
        previous = try cells.next()
        successor = try cells.next()
        failedChecks = try cells.next()
        device = try cells.next()
        client = try cells.next()
    }
}

extension HomeRecords.Device {
    static func each(in records: HomeRecords, _ body: (Self) -> Void) { records.devices.values.forEach(body) }
    func insert(into records: inout HomeRecords) { records.devices[digest] = self }

    init(_ cells: inout RowCells) throws(PostgresError) {
        guard let digest = Digest(bytes: try cells.next()) else {
            throw PostgresError(.mismatch, "a device has no valid digest")
        }
        self.digest = digest
        user = try cells.id()
        issuedAt = try cells.time()
        failures = try cells.next()
        failedAt = try cells.optionalTime()
        blockedUntil = try cells.optionalTime()
    }
}

extension HomeRecords.LoginFailures {
    static func each(in records: HomeRecords, _ body: (Self) -> Void) { records.failures.values.forEach(body) }
    func insert(into records: inout HomeRecords) { records.failures[key] = self }

    init(_ cells: inout RowCells) throws(PostgresError) {
        key = Key(subject: try cells.subject(), address: AddressTag(bytes: try cells.next()))
        failures = try cells.next()
        failedAt = try cells.time()
        blockedUntil = try cells.optionalTime()
    }
}
