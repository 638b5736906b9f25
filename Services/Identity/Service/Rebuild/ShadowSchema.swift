internal import EventLog
internal import Postgres
internal import Projections

/// The tables of the projection once more, in a schema of their own. Their shape is taken from the live ones, so that it is
/// written down in the migrations alone.
struct ShadowSchema: Sendable {
    let name: String
    let live: String

    init(_ name: String, of live: String = "identity") {
        self.name = name
        self.live = live
    }

    /// Tables with the rows of homes.
    static let homes: [any HomeRow.Type] = [
        HomeRecords.User.self, HomeRecords.Identifier.self, HomeRecords.Onboarding.self, HomeRecords.VerifiedContact.self,
        HomeRecords.Session.self, HomeRecords.Device.self, HomeRecords.LoginFailures.self, HomeRecords.SignUpNotice.self,
    ]
    /// All tables that events make.
    static let tables = homes.map { $0.table } + [EndedSession.table, "outcomes"]
    /// Tables that are made along with their indexes, because each write looks into them.
    private static let indexed = ["outcomes", "checkpoints", "generation"]
    /// Tables of the live schema that stay as they are.
    private static let kept = ["checkpoints", "generation", "inboxes", "migrations"]

    var statements: ProjectionStatements { ProjectionStatements(schema: name) }

    // MARK: Making it

    /// Makes the schema anew, empty.
    ///
    /// - Parameter origin: what it is made from; see `origin(over:)`.
    func create(for origin: String, over connection: PostgresConnection) throws {
        try connection.transaction { connection in
            try drop(over: connection)
            try connection.query("CREATE SCHEMA \(unsafe: name)")
            for table in Self.tables + ["checkpoints", "generation"] {
                try connection.query(
                    """
                    CREATE TABLE \(unsafe: name).\(unsafe: table)
                    (LIKE \(unsafe: live).\(unsafe: table) INCLUDING ALL EXCLUDING INDEXES)
                    """)
                try copyParameters(of: table, over: connection)
                if Self.indexed.contains(table) {
                    for statement in try indexes(of: table, over: connection) { try connection.query(statement) }
                }
            }
            try connection.query("INSERT INTO \(unsafe: name).generation (number) VALUES (1)")
            try connection.query("CREATE TABLE \(unsafe: name).origin (text text NOT NULL)")
            try connection.query("INSERT INTO \(unsafe: name).origin (text) VALUES (\(origin))")
        }
    }

    private func copyParameters(of table: String, over connection: PostgresConnection) throws(PostgresError) {
        let parameters = try connection.query(
            """
            SELECT array_to_string(reloptions, ', ') FROM pg_class
            WHERE oid = \(live + "." + table)::regclass AND reloptions IS NOT NULL
            """
        ).column(String.self)
        for text in parameters { try connection.query("ALTER TABLE \(unsafe: name).\(unsafe: table) SET (\(unsafe: text))") }
    }

    func drop(over connection: PostgresConnection) throws(PostgresError) {
        try connection.query("DROP SCHEMA IF EXISTS \(unsafe: name) CASCADE")
    }

    func exists(over connection: PostgresConnection) throws(PostgresError) -> Bool {
        try !connection.query("SELECT FROM pg_namespace WHERE nspname = \(name)").isEmpty
    }

    /// Whether the schema is there and was made from the same.
    func isMade(for origin: String, over connection: PostgresConnection) throws(PostgresError) -> Bool {
        let table = "\(name).origin"
        guard try connection.query("SELECT to_regclass(\(table)) IS NOT NULL").column(Bool.self) == [true] else { return false }
        return try connection.query("SELECT text FROM \(unsafe: table)").column(String.self) == [origin]
    }

    // MARK: Comparing it with what this version knows

    /// Fails where the live tables are not those that this version fills.
    func check(over connection: PostgresConnection) throws {
        let rows = try connection.query(
            """
            SELECT c.relname::text, array_agg(a.attname::text ORDER BY a.attnum)
            FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.relnamespace = \(live)::regnamespace AND c.relkind = 'r' GROUP BY c.relname
            """
        ).decode(String.self, [String].self)
        let found = Dictionary(rows, uniquingKeysWith: { first, _ in first })
        for table in Set(Self.tables + Self.kept).subtracting(found.keys).sorted() {
            throw RebuildError("there is no table \(live).\(table): bring the schema up to date first (identity migrate)")
        }
        for table in Set(found.keys).subtracting(Self.tables + Self.kept).sorted() {
            throw RebuildError("this version cannot rebuild table \(live).\(table)")
        }
        var known = Dictionary(uniqueKeysWithValues: Self.homes.map { ($0.table, $0.allColumns) })
        known[EndedSession.table] = EndedSession.columns
        for (table, columns) in known where Set(columns) != Set(found[table] ?? []) {
            throw RebuildError("this version does not know all columns of \(live).\(table)")
        }
    }

    // MARK: Indexes

    /// The statements that make what indexes a table lacks, in the order of their names.
    func indexes(of table: String, over connection: PostgresConnection) throws(PostgresError) -> [SQL] {
        let rows = try connection.query(
            """
            SELECT index.relname::text, pg_get_indexdef(index.oid), pg_get_constraintdef(con.oid)
            FROM pg_index AS i JOIN pg_class AS index ON index.oid = i.indexrelid
            LEFT JOIN pg_constraint AS con ON con.conindid = i.indexrelid AND con.contype IN ('p', 'u', 'x')
            WHERE i.indrelid = \(live + "." + table)::regclass AND NOT EXISTS (
                SELECT FROM pg_class AS made WHERE made.relname = index.relname AND made.relnamespace = \(name)::regnamespace)
            ORDER BY index.relname
            """
        ).decode(String.self, String.self, String?.self)
        return rows.map { index, definition, constraint in
            if let constraint {
                return "ALTER TABLE \(unsafe: name).\(unsafe: table) ADD CONSTRAINT \(unsafe: index) \(unsafe: constraint)"
            }
            let text = definition.replacing(" ON \(live).\(table) ", with: " ON \(name).\(table) ", maxReplacements: 1)
            return SQL(unsafe: text)
        }
    }
}
