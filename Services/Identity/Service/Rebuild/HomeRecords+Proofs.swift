internal import EventSchema
internal import IdentityDomain
internal import Postgres
internal import Projections

extension HomeRecords {
    struct Onboarding: HomeRow {
        static let table = "onboarding_sessions"
        static let columns = [
            "id", "subject", "channel", "status", "proof", "created_at", "expires_at", "verified_at", "data_key", "identifier",
            "password_hash", "profile", "profile_version", "completed_at", "user_id", "session_id", "successor",
        ]

        var id: OnboardingSessionID
        var subject: Subject
        var channel: Channel
        var status = Self.active
        var proof: SignUpProof
        var createdAt: Timestamp
        var expiresAt: Timestamp
        var verifiedAt: Timestamp?
        var dataKey: DataKeyID
        var identifier: [UInt8]?
        var passwordHash: [UInt8]?
        var profile: [UInt8]?
        var profileVersion: Int64 = 0
        var completedAt: Timestamp?
        var user: UserID?
        var session: SessionID?
        var successor: String?

        static let active = "active"

        func write(to rows: inout CopyRows) {
            rows.append(id: id)
            rows.append(raw: subject.bytes)
            rows.append(text: channel.rawValue)
            rows.append(text: status)
            rows.append(text: proof.rawValue)
            rows.append(time: createdAt)
            rows.append(time: expiresAt)
            rows.append(time: verifiedAt)
            rows.append(id: dataKey)
            rows.append(raw: identifier)
            rows.append(raw: passwordHash)
            rows.append(raw: profile)
            rows.append(profileVersion)
            rows.append(time: completedAt)
            rows.append(id: user)
            rows.append(id: session)
            rows.append(text: successor)
        }
    }

    struct VerifiedContact: HomeRow {
        static let table = "verified_contacts"
        static let columns = ["subject", "channel", "confirmation", "command", "verified_at", "expires_at", "waiting"]

        var subject: Subject
        var channel: Channel
        var confirmation: MessageID
        var command: MessageID?
        var verifiedAt: Timestamp
        var expiresAt: Timestamp
        var isWaiting = true

        func write(to rows: inout CopyRows) {
            rows.append(raw: subject.bytes)
            rows.append(text: channel.rawValue)
            rows.append(id: confirmation)
            rows.append(id: command)
            rows.append(time: verifiedAt)
            rows.append(time: expiresAt)
            rows.append(isWaiting)
        }
    }

    struct SignUpNotice: HomeRow {
        static let table = "sign_up_notices"
        static let columns = ["subject", "noticed_at"]

        var subject: Subject
        var noticedAt: Timestamp

        func write(to rows: inout CopyRows) {
            rows.append(raw: subject.bytes)
            rows.append(time: noticedAt)
        }
    }
}

extension HomeRecords.Onboarding {
    static func each(in records: HomeRecords, _ body: (Self) -> Void) { records.onboarding.values.forEach(body) }
    func insert(into records: inout HomeRecords) { records.onboarding[id] = self }

    init(_ cells: inout RowCells) throws(PostgresError) {
        id = try cells.id()
        subject = try cells.subject()
        channel = try cells.choice()
        status = try cells.next()
        proof = try cells.choice()
        createdAt = try cells.time()
        expiresAt = try cells.time()
        verifiedAt = try cells.optionalTime()
        dataKey = try cells.id()
        identifier = try cells.next()
        passwordHash = try cells.next()
        profile = try cells.next()
        profileVersion = try cells.next()
        completedAt = try cells.optionalTime()
        user = try cells.optionalID()
        session = try cells.optionalID()
        successor = try cells.next()
    }
}

extension HomeRecords.VerifiedContact {
    static func each(in records: HomeRecords, _ body: (Self) -> Void) { records.contacts.values.forEach(body) }
    func insert(into records: inout HomeRecords) { records.contacts[subject] = self }

    init(_ cells: inout RowCells) throws(PostgresError) {
        subject = try cells.subject()
        channel = try cells.choice()
        confirmation = try cells.id()
        command = try cells.optionalID()
        verifiedAt = try cells.time()
        expiresAt = try cells.time()
        isWaiting = try cells.next()
    }
}

extension HomeRecords.SignUpNotice {
    static func each(in records: HomeRecords, _ body: (Self) -> Void) { records.notices.values.forEach(body) }
    func insert(into records: inout HomeRecords) { records.notices[subject] = self }

    init(_ cells: inout RowCells) throws(PostgresError) {
        subject = try cells.subject()
        noticedAt = try cells.time()
    }
}
