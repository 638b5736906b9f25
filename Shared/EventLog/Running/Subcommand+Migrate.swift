public import Postgres
public import Runtime

extension Subcommand {
    /// `migrate`: applies what is missing of a service's schemas, and ends.
    ///
    /// - Parameter schemas: what they are called in the help.
    public static func migrate(
        _ schemas: String, _ migrations: @escaping @Sendable () throws -> [Migrations],
        over database: @escaping @Sendable (Configuration) -> PostgresConnection.Configuration
    ) -> Subcommand {
        Subcommand("migrate", "Brings \(schemas) up to date, and ends.") { configuration, _, _ in
            _ = try await BlockingPool.runOnce(name: "migrate") {
                try Preparation.apply(migrations(), database(configuration))
            }
            return 0
        }
    }
}
