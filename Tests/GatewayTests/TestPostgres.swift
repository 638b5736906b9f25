import Postgres
import Runtime
import TestSupport

@testable import GatewayService

/// One database with the gateways' schema for all tests, which keep out of each other's way by random keys.
struct TestPostgres {
    let database: TestDatabase
    let pool: PostgresPool

    static var shared: TestPostgres { get async throws { try await made.value } }
    private static let made = Task { try await TestPostgres() }

    /// Making a server and a database blocks for longer than the requests of other tests may wait.
    private static let thread = BlockingPool(name: "test database", threads: 1)

    private init() async throws {
        database = try await Self.thread.run { try TestDatabase.create() }
        pool = Self.pool(database)
        _ = try await pool.withConnection { try GatewaySchema.migrations.apply(over: $0) }
    }

    /// Another gateway's.
    func anotherPool(settings: [String: String] = [:]) -> PostgresPool { Self.pool(database, settings) }

    private static func pool(_ database: TestDatabase, _ settings: [String: String] = [:]) -> PostgresPool {
        var configuration = PostgresPool.Configuration(
            PostgresConnection.Configuration(database.connectionString, applicationName: "gateway test").goingByKeys)
        configuration.connection.settings.merge(settings) { $1 }
        configuration.patience = .seconds(60)
        return PostgresPool(configuration)
    }
}
