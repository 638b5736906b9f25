public import Postgres

extension Migrations {
    /// The tables that every projection has, and then those of a service: its own files begin with number 2.
    public static func projection(
        schema: String, files: [(name: String, contents: [UInt8])]
    ) throws(PostgresError) -> Migrations {
        let parts = String(decoding: PackageResources._001_projection_sql, as: UTF8.self)
            .split(separator: "{schema}", omittingEmptySubsequences: false)
        let common = (name: "0001_projection.sql", contents: Array(parts.joined(separator: schema).utf8))
        return try Migrations(schema: schema, files: [common] + files)
    }
}
