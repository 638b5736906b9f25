public import Postgres

/// The rows of tables as text, to compare two projections.
public enum TableDump {
    /// One line for each row, sorted. `ignoring` are columns that may differ.
    public static func rows(
        of tables: [String], ignoring columns: [String] = [], over connection: PostgresConnection
    ) throws -> [String: [String]] {
        var dump: [String: [String]] = [:]
        for table in tables {
            let rows = try connection.query(
                "SELECT (to_jsonb(t) - \(columns))::text FROM \(unsafe: table) AS t ORDER BY 1")
            dump[table] = try rows.column(String.self)
        }
        return dump
    }
}
