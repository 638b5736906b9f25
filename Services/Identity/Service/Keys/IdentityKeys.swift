internal import Postgres

/// The schema of the keys that are backed up.
public enum IdentityKeys {
    public static let schema = "identity_keys"

    static func migrations(schema: String = schema) throws(PostgresError) -> Migrations {
        let files = [
            ("0001_keys.sql", PackageResources._001_keys_sql), ("0002_audit_key.sql", PackageResources._002_audit_key_sql),
        ]
        return try Migrations(
            schema: schema,
            files: files.map { name, bytes in
                let script = String(decoding: bytes, as: UTF8.self).split(separator: "{schema}")
                return (name, Array(script.joined(separator: schema).utf8))
            })
    }
}
