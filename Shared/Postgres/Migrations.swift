/// The numbered SQL files of one schema. Each is applied once, in order, and recorded with its checksum.
///
/// A file name is `0001_what_it_does.sql`; numbers start at 1 and have no gaps. Files that were applied anywhere are never
/// changed: a later file corrects an earlier one.
public struct Migrations: Sendable {
    public struct File: Hashable, Sendable {
        public var number: Int
        public var name: String
        public var script: String
    }

    public let schema: String
    /// The role that shall own what is made, where the server has it, it may create it, and the session's role is a member.
    public let owner: String?
    public let files: [File]

    /// Throws `.migration` where a file's name has no number, or numbers are missing or doubled.
    public init(schema: String, owner: String? = nil, files: [(name: String, contents: [UInt8])]) throws(PostgresError) {
        self.schema = schema
        self.owner = owner
        var all: [File] = []
        for (name, contents) in files {
            guard name.hasSuffix(".sql"), let number = Int(name.prefix { $0.isNumber }) else {
                throw PostgresError(.migration, "\(schema): \(name) is no NNNN_name.sql")
            }
            all.append(File(number: number, name: name, script: String(decoding: contents, as: UTF8.self)))
        }
        all.sort { $0.number < $1.number }
        for (index, file) in all.enumerated() where file.number != index + 1 {
            throw PostgresError(.migration, "\(schema): expected number \(index + 1), found \(file.name)")
        }
        self.files = all
    }

    /// Brings the schema to the newest version, all or nothing, and returns how many files were applied. Several processes
    /// may do this at once: one does it, the others wait. Throws `.migration` where a file that was applied is missing here
    /// or reads differently.
    @discardableResult
    public func apply(over connection: PostgresConnection) throws(PostgresError) -> Int {
        let timeout = connection.statementTimeout
        connection.statementTimeout = .seconds(600)
        defer { connection.statementTimeout = timeout }
        do {
            return try connection.transaction { connection in try applyMissing(over: connection) }
        } catch let error as PostgresError {
            throw error
        } catch {
            throw PostgresError(.migration, "\(schema): \(error)")
        }
    }

    private func applyMissing(over connection: PostgresConnection) throws(PostgresError) -> Int {
        try connection.query("SELECT pg_advisory_xact_lock(hashtextextended(\("migrations of " + schema), 0))")
        try becomeOwner(over: connection)
        try prepare(over: connection)
        let applied = try verify(over: connection)
        for file in files.dropFirst(applied) {
            do {
                try connection.script(file.script)
            } catch {
                throw PostgresError(.migration, state: error.state, "\(schema): \(file.name) failed: \(error)")
            }
            try connection.query(
                """
                INSERT INTO \(unsafe: schema).migrations (number, name, checksum)
                VALUES (\(Int32(file.number)), \(file.name), sha256(\(Array(file.script.utf8))))
                """)
        }
        return files.count - applied
    }

    private func becomeOwner(over connection: PostgresConnection) throws(PostgresError) {
        guard let owner else { return }
        let isMember = try connection.query(
            """
            SELECT 1 FROM pg_roles AS r WHERE rolname = \(owner) AND pg_has_role(current_user, r.oid, 'MEMBER') AND (
                has_database_privilege(r.oid, current_database(), 'CREATE')
                OR EXISTS (SELECT FROM pg_namespace WHERE nspname = \(schema) AND nspowner = r.oid))
            """)
        if !isMember.isEmpty { try connection.query("SET LOCAL ROLE \(unsafe: owner)") }
    }

    /// Looks before it makes anything: `IF NOT EXISTS` asks for the right to create even where there is nothing to do.
    private func prepare(over connection: PostgresConnection) throws(PostgresError) {
        if try connection.query("SELECT 1 FROM pg_namespace WHERE nspname = \(schema)").isEmpty {
            try connection.query("CREATE SCHEMA \(unsafe: schema)")
        }
        let table = "\(schema).migrations"
        if try connection.query("SELECT to_regclass(\(table)) IS NOT NULL").column(Bool.self) == [true] { return }
        try connection.query(
            """
            CREATE TABLE \(unsafe: table) (
                number integer PRIMARY KEY,
                name text NOT NULL,
                checksum bytea NOT NULL,
                applied timestamptz NOT NULL DEFAULT now()
            )
            """)
    }

    /// Returns how many files are applied.
    private func verify(over connection: PostgresConnection) throws(PostgresError) -> Int {
        let recorded = try connection.query(
            """
            SELECT number, recorded.name, checksum, sha256(script)
            FROM \(unsafe: schema).migrations AS recorded
            LEFT JOIN unnest(\(files.map { Int32($0.number) }), \(files.map { Array($0.script.utf8) })) AS file(number, script)
            USING (number) ORDER BY number
            """
        ).decode(Int.self, String.self, [UInt8].self, [UInt8]?.self)
        for (index, (number, name, then, now)) in recorded.enumerated() {
            guard number == index + 1 else { throw PostgresError(.migration, "\(schema): number \(index + 1) was never applied") }
            guard let now else { throw PostgresError(.migration, "\(schema): \(name) was applied and is missing here") }
            guard then == now else { throw PostgresError(.migration, "\(schema): \(name) was changed after it was applied") }
        }
        return recorded.count
    }
}
