internal import Crypto
internal import EventSchema
internal import IdentityDomain
internal import Postgres
internal import Projections

/// Reads whole homes with one statement: rows of all tables in one shape, with what they are in front.
struct HomeRows: Sendable {
    private enum Kind: Int32, CaseIterable {
        case identifier, flag, failures, notice, user, device, onboarding, session
    }

    /// The columns after kind and home, in their order, with their types.
    private static let columns = [
        ("a", "uuid"), ("b", "uuid"), ("c", "uuid"), ("d", "bytea"), ("e", "bytea"), ("t1", "timestamptz"), ("t2", "timestamptz"),
        ("t3", "timestamptz"), ("t4", "timestamptz"), ("n1", "int8"), ("n2", "int8"), ("f1", "boolean"), ("f2", "boolean"),
        ("x", "text"), ("y", "text"), ("g", "text[]"),
    ]

    // MARK: Reading

    /// All but the keys: it is long, and made once.
    private let parts: String

    init(schema: String) {
        parts = Kind.allCases.map { kind in
            let source = Self.source(of: kind)
            let values = Self.columns.map { "(\(source.values[$0.0] ?? "NULL"))::\($0.1) AS \($0.0)" }.joined(separator: ", ")
            let condition = source.condition.map { " AND \($0)" } ?? ""
            // OFFSET keeps the planner from going through the whole table to see which homes are wanted, which looks cheap
            // while the table is small, and stays planned so when it grows.
            return """
                SELECT \(kind.rawValue)::int4 AS kind, wanted.home, part.* FROM wanted CROSS JOIN LATERAL (
                    SELECT \(values) FROM \(schema).\(source.table) WHERE home = wanted.home\(condition) OFFSET 0) AS part
                """
        }.joined(separator: "\nUNION ALL\n")
    }

    func reading(_ keys: [RoutingKey]) -> SQL {
        "WITH wanted AS MATERIALIZED (SELECT unnest(\(keys.map(\.bytes))) AS home)\n\(unsafe: parts)"
    }

    private static func source(of kind: Kind) -> (table: String, values: [String: String], condition: String?) {
        switch kind {
        case .identifier: ("identifiers", ["d": "subject", "a": "user_id", "t1": "verified_at", "x": "channel"], nil)
        case .flag:
            (
                "verified_contacts",
                ["d": "subject", "a": "confirmation", "b": "command", "t1": "verified_at", "t2": "expires_at", "f1": "waiting"],
                nil
            )
        case .failures:
            (
                "login_failures",
                ["d": "subject", "e": "address", "n1": "failures", "t1": "failed_at", "t2": "blocked_until"], nil
            )
        case .notice: ("sign_up_notices", ["d": "subject", "t1": "noticed_at"], nil)
        case .user:
            (
                "users",
                [
                    "a": "id", "b": "data_key", "t1": "created_at", "n1": "credential_version", "n2": "profile_version",
                    "f1": "disabled", "f2": "proven", "g": "groups",
                ], "erased_at IS NULL"
            )
        case .device:
            (
                "devices",
                [
                    "d": "digest", "a": "user_id", "t1": "issued_at", "n1": "failures", "t2": "failed_at", "t3": "blocked_until",
                ], nil
            )
        case .onboarding:
            (
                "onboarding_sessions",
                [
                    "a": "id", "b": "data_key", "d": "subject", "x": "channel", "y": "proof || coalesce(' ' || successor, '')",
                    "t1": "created_at", "t2": "expires_at", "t3": "verified_at", "n1": "profile_version", "t4": "completed_at",
                    "c": "user_id", "e": "uuid_send(session_id)",
                ], "status IN ('active', 'completed')"
            )
        case .session:
            (
                "sessions",
                [
                    "a": "id", "b": "user_id", "t1": "started_at", "t2": "expires_at", "t3": "refreshed_at", "d": "refresh",
                    "e": "previous", "y": "successor", "n1": "failed_checks",
                ], nil
            )
        }
    }

    // MARK: Decoding

    static func add(_ row: PostgresRow, to homes: inout [RoutingKey: Home.State]) throws(PostgresError) {
        let cells = Cells(row: row)
        guard let kind = Kind(rawValue: try row.decode(0, as: Int32.self)),
            let home = RoutingKey(bytes: try row.decode(1, as: [UInt8].self))
        else { throw Cells.malformed("home") }
        try add(cells, kind, to: &homes[home, default: Home.State()])
    }

    private static func add(_ cells: Cells, _ kind: Kind, to home: inout Home.State) throws(PostgresError) {
        switch kind {
        case .identifier:
            let subject = try cells.subject()
            home.contacts[subject, default: Home.Contact()].account = try cells.id("a")
            home.contacts[subject]?.verifiedAt = try cells.time("t1")
            home.contacts[subject]?.channel = try cells.choice("x")
        case .flag:
            home.contacts[try cells.subject(), default: Home.Contact()].flag = Home.Flag(
                confirmation: try cells.required(try cells.id("a")), command: try cells.id("b"),
                verifiedAt: try cells.required(try cells.time("t1")), until: try cells.required(try cells.time("t2")),
                isWaiting: try cells.bool("f1"))
        case .failures:
            let (subject, budget) = (try cells.subject(), try cells.budget("t1", "t2"))
            if let tag = AddressTag(bytes: try cells.bytes("e") ?? []) {
                home.contacts[subject, default: Home.Contact()].failuresByAddress[tag] = budget
            } else {
                home.contacts[subject, default: Home.Contact()].failures = budget
            }
        case .notice: home.contacts[try cells.subject(), default: Home.Contact()].noticedAt = try cells.time("t1")
        case .user: try addUser(cells, to: &home)
        case .device:
            home.devices[try cells.digest("d")] = Home.Device(
                user: try cells.required(try cells.id("a")), issuedAt: try cells.required(try cells.time("t1")),
                failures: try cells.budget("t2", "t3"))
        case .onboarding: try addOnboarding(cells, to: &home)
        case .session:
            var session = Home.Session(
                user: try cells.required(try cells.id("b")), startedAt: try cells.required(try cells.time("t1")),
                expiresAt: try cells.required(try cells.time("t2")), refresh: try cells.digest("d"))
            session.refreshedAt = try cells.required(try cells.time("t3"))
            session.failedChecks = try cells.integer("n1")
            if let successor = try cells.text("y").flatMap({ SealedBox(encoded: $0) }) {
                session.previous = Home.Previous(refresh: try cells.digest("e"), successor: successor)
            }
            home.sessions[try cells.required(try cells.id("a"))] = session
        }
    }

    private static func addUser(_ cells: Cells, to home: inout Home.State) throws(PostgresError) {
        var user = Home.User(
            createdAt: try cells.required(try cells.time("t1")), dataKey: try cells.required(try cells.id("b")),
            isProven: try cells.bool("f2"), groups: try cells.texts("g"))
        user.isDisabled = try cells.bool("f1")
        user.credentialVersion = try cells.integer("n1")
        user.profileVersion = try cells.integer("n2")
        home.users[try cells.required(try cells.id("a"))] = user
    }

    private static func addOnboarding(_ cells: Cells, to home: inout Home.State) throws(PostgresError) {
        // The proof, and behind it the successor, which has no space in it.
        let words = (try cells.text("y") ?? "").split(separator: " ").map(String.init)
        var session = Home.Onboarding(
            subject: try cells.subject(), channel: try cells.required(try cells.choice("x")),
            startedAt: try cells.required(try cells.time("t1")), expiresAt: try cells.required(try cells.time("t2")),
            dataKey: try cells.required(try cells.id("b")), proof: try cells.required(words.first.flatMap(SignUpProof.init)),
            verifiedAt: try cells.time("t3"))
        session.profileVersion = try cells.integer("n1")
        if let at = try cells.time("t4"), let user: UserID = try cells.id("c") {
            session.completion = Home.Completion(
                at: at, user: user, session: try cells.required(SessionID(bytes: try cells.bytes("e") ?? [])),
                successor: words.count > 1 ? SealedBox(encoded: words[1]) : nil)
        }
        home.onboarding[try cells.required(try cells.id("a"))] = session
    }
}

/// The cells of a row, by the names of the shape.
private struct Cells {
    let row: PostgresRow

    static func malformed(_ what: String) -> PostgresError { PostgresError(.mismatch, "a row of a home has no valid \(what)") }

    func required<Value>(_ value: Value?) throws(PostgresError) -> Value {
        guard let value else { throw Self.malformed("value where one must be") }
        return value
    }

    func id<ID: UUIDIdentifier>(_ name: String) throws(PostgresError) -> ID? {
        guard let uuid = try row.decode(name, as: PostgresUUID?.self) else { return nil }
        return try required(ID(bytes: uuid.bytes))
    }

    func bytes(_ name: String) throws(PostgresError) -> [UInt8]? { try row.decode(name, as: [UInt8]?.self) }
    func subject() throws(PostgresError) -> Subject { try required(Subject(bytes: try bytes("d") ?? [])) }
    func digest(_ name: String) throws(PostgresError) -> Digest { try required(Digest(bytes: try bytes(name) ?? [])) }
    func time(_ name: String) throws(PostgresError) -> Timestamp? {
        try row.decode(name, as: PostgresTimestamp?.self).map { Timestamp($0) }
    }
    func bool(_ name: String) throws(PostgresError) -> Bool { try row.decode(name, as: Bool.self) }
    func integer(_ name: String) throws(PostgresError) -> Int64 { try row.decode(name, as: Int64.self) }
    func text(_ name: String) throws(PostgresError) -> String? { try row.decode(name, as: String?.self) }
    func texts(_ name: String) throws(PostgresError) -> [String] { try row.decode(name, as: [String].self) }
    func choice<Value: RawRepresentable<String>>(_ name: String) throws(PostgresError) -> Value? {
        try text(name).flatMap { Value(rawValue: $0) }
    }
    func budget(_ last: String, _ until: String) throws(PostgresError) -> LoginBudget {
        LoginBudget(failures: try integer("n1"), lastFailure: try time(last), blockedUntil: try time(until))
    }
}
