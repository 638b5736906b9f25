internal import EventSchema
internal import IdentityDomain
internal import Postgres
internal import Projections

extension HomeRecords {
    struct User: HomeRow {
        static let table = "users"
        static let columns = [
            "id", "created_at", "credential_version", "proven", "disabled", "groups", "data_key", "password_hash", "profile",
            "profile_version", "erased_at",
        ]

        var id: UserID
        var createdAt: Timestamp
        var credentialVersion: Int64 = 0
        var isProven: Bool
        var isDisabled: Bool
        var groups: [String]
        var dataKey: DataKeyID
        var passwordHash: [UInt8]?
        var profile: [UInt8]?
        var profileVersion: Int64 = 0
        var erasedAt: Timestamp?

        func write(to rows: inout CopyRows) {
            rows.append(id: id)
            rows.append(time: createdAt)
            rows.append(credentialVersion)
            rows.append(isProven)
            rows.append(isDisabled)
            rows.append(groups)
            rows.append(id: dataKey)
            rows.append(raw: passwordHash)
            rows.append(raw: profile)
            rows.append(profileVersion)
            rows.append(time: erasedAt)
        }
    }

    struct Identifier: HomeRow {
        static let table = "identifiers"
        static let columns = ["subject", "channel", "user_id", "attached_at", "verified_at", "identifier"]

        var subject: Subject
        var channel: Channel
        var user: UserID
        var attachedAt: Timestamp
        var verifiedAt: Timestamp?
        var identifier: [UInt8]

        func write(to rows: inout CopyRows) {
            rows.append(raw: subject.bytes)
            rows.append(text: channel.rawValue)
            rows.append(id: user)
            rows.append(time: attachedAt)
            rows.append(time: verifiedAt)
            rows.append(raw: identifier)
        }
    }
}

extension HomeRecords.User {
    static func each(in records: HomeRecords, _ body: (Self) -> Void) { records.users.values.forEach(body) }
    func insert(into records: inout HomeRecords) { records.users[id] = self }

    init(_ cells: inout RowCells) throws(PostgresError) {
        id = try cells.id()
        createdAt = try cells.time()
        credentialVersion = try cells.next()
        isProven = try cells.next()
        isDisabled = try cells.next()
        groups = try cells.next()
        dataKey = try cells.id()
        passwordHash = try cells.next()
        profile = try cells.next()
        profileVersion = try cells.next()
        erasedAt = try cells.optionalTime()
    }
}

extension HomeRecords.Identifier {
    static func each(in records: HomeRecords, _ body: (Self) -> Void) { records.identifiers.values.forEach(body) }
    func insert(into records: inout HomeRecords) { records.identifiers[subject] = self }

    init(_ cells: inout RowCells) throws(PostgresError) {
        subject = try cells.subject()
        channel = try cells.choice()
        user = try cells.id()
        attachedAt = try cells.time()
        verifiedAt = try cells.optionalTime()
        identifier = try cells.next()
    }
}
