public import Postgres

/// The tables of the gateways.
public enum GatewaySchema {
    public static let migrations: Migrations = {
        let files = [(name: "0001_limits_and_idempotency.sql", contents: PackageResources._001_limits_and_idempotency_sql)]
        do {
            return try Migrations(schema: "gateway", files: files)
        } catch {
            preconditionFailure("the numbers of the migrations are wrong: \(error)")
        }
    }()
}
