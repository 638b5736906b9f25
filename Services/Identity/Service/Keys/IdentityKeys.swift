internal import Postgres

/// The schema of the keys that are backed up.
public enum IdentityKeys {
    public static let schema = "identity_keys"

    static func migrations(schema: String = schema) throws(PostgresError) -> Migrations {
        let script = String(decoding: PackageResources._001_keys_sql, as: UTF8.self).split(separator: "{schema}")
        return try Migrations(schema: schema, files: [("0001_keys.sql", Array(script.joined(separator: schema).utf8))])
    }
}
