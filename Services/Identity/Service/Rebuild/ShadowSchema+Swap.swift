internal import Postgres

extension ShadowSchema {
    /// Where the tables go that were live before.
    var old: String { "\(live)_old" }

    /// Takes the place of the live tables: to be done in the transaction that has locked the generation. Views are made again
    /// over the new tables; who may read them stays as it is.
    ///
    /// Whoever reads takes views before the tables in them, so they are locked in that order. Somebody who takes them in another
    /// order makes the lock time out, and nothing happened.
    ///
    /// - Parameter limit: called before everything is locked, to say how long that may take.
    func takePlace(over connection: PostgresConnection, limit: () throws -> Void) throws {
        // Names in the views' texts come with their schema.
        try connection.query("SET LOCAL search_path TO ''")
        let views = try connection.query(
            """
            SELECT c.relname::text, pg_get_viewdef(c.oid) FROM pg_class AS c
            WHERE c.relnamespace = \(live)::regnamespace AND c.relkind = 'v' ORDER BY c.relname
            """
        ).decode(String.self, String.self)
        let relations = views.map { "\(live).\($0.0)" } + Self.tables.map { "\(live).\($0)" }
        try limit()
        try connection.query("LOCK TABLE \(unsafe: relations.joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE")
        // From here on nobody is waited for.
        var statements: [SQL] = ["SET LOCAL statement_timeout = '10s'", "CREATE SCHEMA \(unsafe: old)"]
        for table in Self.tables {
            statements.append("ALTER TABLE \(unsafe: live).\(unsafe: table) SET SCHEMA \(unsafe: old)")
            statements.append("ALTER TABLE \(unsafe: name).\(unsafe: table) SET SCHEMA \(unsafe: live)")
        }
        for (view, definition) in views {
            statements.append("CREATE OR REPLACE VIEW \(unsafe: live).\(unsafe: view) AS \(unsafe: definition)")
        }
        statements.append("UPDATE \(unsafe: live).generation SET number = number + 1")
        statements.append("DROP SCHEMA \(unsafe: name) CASCADE")
        for statement in statements { try connection.query(statement) }
    }
}
