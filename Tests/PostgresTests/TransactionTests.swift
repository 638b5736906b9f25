import Postgres
import TestSupport
import Testing

@Suite struct `Transactions` {
    struct Refusal: Error {}

    let database: TestDatabase
    let connection: PostgresConnection
    let other: PostgresConnection

    init() throws {
        database = try TestDatabase.create()
        connection = try database.connect()
        other = try database.connect()
        try connection.script("CREATE TABLE t (id int8 PRIMARY KEY)")
    }

    private func ids() throws -> [Int] { try other.query("SELECT id FROM t ORDER BY id").column(Int.self) }

    @Test func `what returns is committed`() throws {
        let seen = try connection.transaction { connection in
            try connection.query("INSERT INTO t VALUES (\(1))")
            #expect(try ids() == [])
            try connection.query("INSERT INTO t VALUES (\(2))")
            return try connection.query("SELECT id FROM t").count
        }
        #expect(seen == 2)
        #expect(try ids() == [1, 2])
    }

    @Test func `what throws is rolled back`() throws {
        #expect(throws: Refusal.self) {
            try connection.transaction { connection in
                try connection.query("INSERT INTO t VALUES (\(1))")
                throw Refusal()
            }
        }
        #expect(try ids() == [])
        try connection.query("INSERT INTO t VALUES (\(3))")
        #expect(try ids() == [3])
    }

    @Test func `a failure that the body swallows is not a commit`() throws {
        let error = #expect(throws: PostgresError.self) {
            try connection.transaction { connection in
                try connection.query("INSERT INTO t VALUES (\(1))")
                _ = try? connection.query("SELECT * FROM nowhere")
            }
        }
        #expect(error?.state == .failedTransaction)
        #expect(try ids() == [])
    }

    @Test func `the first statement may be the one that fails`() throws {
        #expect(throws: PostgresError.self) {
            try connection.transaction { connection in
                try connection.query("SELECT * FROM nowhere")
            }
        }
        try connection.transaction { connection in try connection.query("INSERT INTO t VALUES (\(4))") }
        #expect(try ids() == [4])
    }

    @Test func `an inner transaction is undone alone`() throws {
        try connection.transaction { connection in
            try connection.query("INSERT INTO t VALUES (\(1))")
            #expect(throws: PostgresError.self) {
                try connection.transaction { connection in
                    try connection.query("INSERT INTO t VALUES (\(2))")
                    try connection.query("INSERT INTO t VALUES (\(1))")
                }
            }
            try connection.transaction { connection in try connection.query("INSERT INTO t VALUES (\(3))") }
        }
        #expect(try ids() == [1, 3])
    }

    @Test func `an empty transaction costs nothing, the next one is its own`() throws {
        try connection.transaction { _ in }
        try connection.query("INSERT INTO t VALUES (\(1))")
        #expect(try ids() == [1])
    }

    @Test func `isolation is what was asked for`() throws {
        let shown = try connection.transaction(PostgresTransaction(isolation: .serializable, isReadOnly: true)) { connection in
            try connection.batch(["SHOW transaction_isolation", "SHOW transaction_read_only"]).map { try $0.column(String.self) }
        }
        #expect(shown == [["serializable"], ["on"]])
    }

    @Test func `a script in a transaction belongs to it`() throws {
        #expect(throws: Refusal.self) {
            try connection.transaction { connection in
                try connection.script("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
                throw Refusal()
            }
        }
        #expect(try ids() == [])
    }

    @Test func `a transaction that lost to another one may be tried again`() throws {
        try connection.query("INSERT INTO t VALUES (\(1))")
        let error = #expect(throws: PostgresError.self) {
            try connection.transaction(PostgresTransaction(isolation: .repeatableRead)) { connection in
                try connection.query("SELECT * FROM t")
                try other.query("UPDATE t SET id = \(2)")
                try connection.query("UPDATE t SET id = \(3)")
            }
        }
        #expect(error?.state == .serializationFailure)
        #expect(error?.isRetriable == true)
        #expect(try ids() == [2])
    }
}
