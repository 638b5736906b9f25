public import Postgres

/// A database of one test or suite, dropped with this object.
public final class TestDatabase: Sendable {
    public let name: String
    /// libpq's keywords and values.
    public let connectionString: String
    private let server: String

    /// Makes an empty database on the given server, or on the shared one.
    public static func create(on server: TestServer? = nil) throws -> TestDatabase {
        try TestDatabase(server: try server?.connectionString ?? TestServer.shared.get())
    }

    private init(server: String) throws {
        self.server = server
        name = "latchkey_test_" + String(UInt64.random(in: 0..<(1 << 60)), radix: 36)
        connectionString = server + " dbname=" + name
        try Self.administer(server, "CREATE DATABASE \(unsafe: name)")
    }

    deinit { try? Self.administer(server, "DROP DATABASE IF EXISTS \(unsafe: name) WITH (FORCE)") }

    /// A connection to it.
    public func connect(_ applicationName: String = "test") throws -> PostgresConnection {
        try PostgresConnection(.init(connectionString, applicationName: applicationName))
    }

    private static func administer(_ server: String, _ sql: SQL) throws {
        let connection = try PostgresConnection(.init(server, applicationName: "test database"))
        connection.statementTimeout = .seconds(60)
        try connection.query(sql)
    }
}
