import Postgres
import Synchronization
import TestSupport
import Testing

@Suite struct `Migrations of a schema` {
    let database: TestDatabase
    let connection: PostgresConnection

    static let first = (
        name: "0001_things.sql", contents: Array("CREATE TABLE shop.things (id int8); INSERT INTO shop.things VALUES (1);".utf8)
    )
    static let second = (name: "0002_more.sql", contents: Array("ALTER TABLE shop.things ADD COLUMN name text;".utf8))

    init() throws {
        database = try TestDatabase.create()
        connection = try database.connect()
    }

    @Test func `are applied once, in order`() throws {
        #expect(try Migrations(schema: "shop", files: [Self.first]).apply(over: connection) == 1)
        #expect(try Migrations(schema: "shop", files: [Self.second, Self.first]).apply(over: connection) == 1)
        #expect(try Migrations(schema: "shop", files: [Self.first, Self.second]).apply(over: connection) == 0)
        #expect(try connection.query("SELECT id, name FROM shop.things").decode(Int.self, String?.self).map(\.0) == [1])
    }

    @Test func `are all applied or none`() throws {
        let broken = (name: "0002_broken.sql", contents: Array("SELECT * FROM nowhere".utf8))
        let error = #expect(throws: PostgresError.self) {
            try Migrations(schema: "shop", files: [Self.first, broken]).apply(over: connection)
        }
        #expect(error?.code == .migration)
        #expect(error?.state == .undefinedTable)
        #expect(try connection.query("SELECT 1 FROM pg_namespace WHERE nspname = 'shop'").isEmpty)
    }

    @Test func `refuse a file that was changed`() throws {
        try Migrations(schema: "shop", files: [Self.first]).apply(over: connection)
        let changed = (name: Self.first.name, contents: Self.first.contents + [32])
        let error = #expect(throws: PostgresError.self) {
            try Migrations(schema: "shop", files: [changed]).apply(over: connection)
        }
        #expect(error?.code == .migration)
    }

    @Test func `refuse to go on where one that was applied is missing`() throws {
        try Migrations(schema: "shop", files: [Self.first, Self.second]).apply(over: connection)
        let error = #expect(throws: PostgresError.self) {
            try Migrations(schema: "shop", files: [Self.first]).apply(over: connection)
        }
        #expect(error?.code == .migration)
    }

    @Test func `need numbers without gaps`() {
        #expect(throws: PostgresError.self) { try Migrations(schema: "shop", files: [Self.second]) }
        #expect(throws: PostgresError.self) { try Migrations(schema: "shop", files: [Self.first, Self.first]) }
        #expect(throws: PostgresError.self) { try Migrations(schema: "shop", files: [(name: "things.sql", contents: [])]) }
    }

    @Test func `may be applied by many at once`() async throws {
        let connectionString = database.connectionString
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let connection = try PostgresConnection(.init(connectionString, applicationName: "migrations"))
                    return try Migrations(schema: "shop", files: [Self.first, Self.second]).apply(over: connection)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.sorted() == [0, 0, 0, 0, 0, 2])
    }

    @Test func `belong to the owner where the server has it`() throws {
        let owner = database.name + "_owner"
        try connection.script("CREATE ROLE \(owner); GRANT CREATE ON DATABASE \(database.name) TO \(owner)")
        try Migrations(schema: "shop", owner: owner, files: [Self.first]).apply(over: connection)
        #expect(
            try connection.query("SELECT tableowner FROM pg_tables WHERE schemaname = 'shop' ORDER BY 1").column(String.self) == [
                owner, owner,
            ])
        #expect(try connection.query("SELECT current_user = session_user").column(Bool.self) == [true])
        try connection.script(
            "DROP SCHEMA shop CASCADE; REVOKE ALL ON DATABASE \(database.name) FROM \(owner); DROP ROLE \(owner)")
    }
}
