internal import Crypto
internal import Postgres

/// Compares two schemas row by row, each over its own connection: rows come in the order of their keys, a few at a time.
enum ProjectionComparison {
    private struct Row {
        var key: [UInt8]
        var digest: [UInt8]
    }

    private static let keysShown = 3

    /// What makes one row of a table, as bytes.
    private static let keys = [
        "users": "uuid_send(id)", "identifiers": "subject", "onboarding_sessions": "uuid_send(id)",
        "verified_contacts": "subject", "sessions": "uuid_send(id)", "devices": "digest", "login_failures": "subject || address",
        "sign_up_notices": "subject", "ended_sessions": "uuid_send(id)", "outcomes": "int4send(partition) || uuid_send(command)",
    ]

    /// Both connections are in a transaction.
    static func compare(
        _ table: String, rebuilt: (String, PostgresConnection), live: (String, PostgresConnection)
    ) throws -> IdentityRebuild.TableReport {
        var report = IdentityRebuild.TableReport(table: table)
        var left = try Cursor(table, of: rebuilt.0, over: rebuilt.1)
        var right = try Cursor(table, of: live.0, over: live.1)
        var (a, b) = (try left.next(), try right.next())
        func note(_ key: [UInt8]) {
            if report.keys.count < keysShown { report.keys.append(Hex.encode(key)) }
        }
        while a != nil || b != nil {
            report.rows += 1
            if let one = a, b.map({ one.key.lexicographicallyPrecedes($0.key) }) ?? true {
                report.missing += 1
                note(one.key)
                a = try left.next()
            } else if let other = b, a.map({ other.key.lexicographicallyPrecedes($0.key) }) ?? true {
                report.surplus += 1
                note(other.key)
                b = try right.next()
            } else {
                if let one = a, one.digest != b?.digest {
                    report.changed += 1
                    note(one.key)
                }
                (a, b) = (try left.next(), try right.next())
            }
        }
        try left.close()
        try right.close()
        return report
    }

    /// The rows of a table in the order of their keys.
    private struct Cursor {
        private static let size = 5_000
        private let connection: PostgresConnection
        private let name: String
        private var rows: [Row] = []
        private var index = 0
        private var isAtEnd = false

        init(_ table: String, of schema: String, over connection: PostgresConnection) throws(PostgresError) {
            self.connection = connection
            name = "rows_of_\(table)"
            let key = ProjectionComparison.keys[table] ?? "'\\x'"
            try connection.query(
                """
                DECLARE \(unsafe: name) NO SCROLL CURSOR FOR
                SELECT \(unsafe: key), sha256(convert_to(t::text, 'UTF8')) FROM \(unsafe: schema).\(unsafe: table) AS t ORDER BY 1
                """)
        }

        mutating func next() throws(PostgresError) -> Row? {
            if index == rows.count, !isAtEnd {
                let fetched = try connection.query("FETCH \(unsafe: String(Self.size)) FROM \(unsafe: name)")
                rows = try fetched.decode([UInt8].self, [UInt8].self).map { Row(key: $0.0, digest: $0.1) }
                index = 0
                isAtEnd = rows.count < Self.size
            }
            guard index < rows.count else { return nil }
            defer { index += 1 }
            return rows[index]
        }

        func close() throws(PostgresError) { try connection.query("CLOSE \(unsafe: name)") }
    }
}
