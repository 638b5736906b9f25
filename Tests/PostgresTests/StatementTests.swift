import Postgres
import TestSupport
import Testing

@Suite struct `Statements` {
    let database: TestDatabase
    let connection: PostgresConnection

    init() throws {
        database = try TestDatabase.create()
        connection = try database.connect()
    }

    @Test func `interpolated values become parameters`() {
        let table = "clients"
        let sql: SQL = "SELECT * FROM \(unsafe: table) WHERE id = \(7) AND name = \("a'b")"
        #expect(sql.text == "SELECT * FROM clients WHERE id = $1 AND name = $2")
        #expect(sql.binds == [7.postgresBind, "a'b".postgresBind])
    }

    @Test func `fragments keep the numbers of parameters right`() {
        let filter: SQL = "b = \(2) AND c = \(3)"
        let sql: SQL = "SELECT 1 WHERE a = \(1) AND \(filter) AND d = \(4)" + " LIMIT \(5)"
        #expect(sql.text == "SELECT 1 WHERE a = $1 AND b = $2 AND c = $3 AND d = $4 LIMIT $5")
        #expect(sql.binds == [1, 2, 3, 4, 5].map(\.postgresBind))
    }

    @Test func `every type comes back as it was sent`() throws {
        let row = try #require(
            try connection.query(
                """
                SELECT \(true), \(Int16.min), \(Int32.max), \(Int64.min), \(42), \(1.5), \("grün 🌱"), \([UInt8]([0, 1, 255])), \([UInt8]()),
                       \(PostgresTimestamp(milliseconds: -62_135_596_800_001)), \(PostgresUUID(Array(0..<16))),
                       \(PostgresJSON(Array(#"{"a": 1}"#.utf8))), \(String?.none), \("")
                """
            ).first)
        #expect(try row.decode(0, as: Bool.self))
        #expect(try row.decode(1, as: Int16.self) == .min)
        #expect(try row.decode(2, as: Int32.self) == .max)
        #expect(try row.decode(3, as: Int64.self) == .min)
        #expect(try row.decode(4, as: Int.self) == 42)
        #expect(try row.decode(5, as: Double.self) == 1.5)
        #expect(try row.decode(6, as: String.self) == "grün 🌱")
        #expect(try row.decode(7, as: [UInt8].self) == [0, 1, 255])
        #expect(try row.decode(8, as: [UInt8].self) == [])
        #expect(try row.decode(9, as: PostgresTimestamp.self).milliseconds == -62_135_596_800_001)
        #expect(try row.decode(10, as: PostgresUUID.self).bytes == Array(0..<16))
        #expect(try row.decode(11, as: PostgresJSON.self).text == Array(#"{"a": 1}"#.utf8))
        #expect(try row.decode(12, as: String?.self) == nil)
        #expect(try row.decode(13, as: String?.self) == "")
    }

    @Test func `arrays come back as they were sent`() throws {
        let row = try #require(
            try connection.query(
                """
                SELECT \([Int64]([1, -2, .max])), \([String]()), \(["a", "", "ü"]), \([[UInt8]]([[1, 2], [], [0]])), \([true, false]),
                       \([Int16]([3])), \([Int32?]([4, nil])), \([PostgresTimestamp(milliseconds: 1_700_000_000_123)])
                """
            ).first)
        #expect(try row.decode(0, as: [Int64].self) == [1, -2, .max])
        #expect(try row.decode(1, as: [String].self) == [])
        #expect(try row.decode(2, as: [String].self) == ["a", "", "ü"])
        #expect(try row.decode(3, as: [[UInt8]].self) == [[1, 2], [], [0]])
        #expect(try row.decode(4, as: [Bool].self) == [true, false])
        #expect(try row.decode(5, as: [Int16].self) == [3])
        #expect(try row.decode(6, as: [Int32?].self) == [4, nil])
        #expect(try row.decode(7, as: [PostgresTimestamp].self).map(\.milliseconds) == [1_700_000_000_123])
    }

    @Test func `a time is what the server means by it`() throws {
        let time = PostgresTimestamp(milliseconds: 951_782_400_250)
        #expect(try connection.query("SELECT \(time) = '2000-02-29T00:00:00.250Z'::timestamptz").column(Bool.self) == [true])
    }

    @Test func `a megabyte goes there and back`() throws {
        let bytes = (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try connection.query("SELECT \(bytes)").column([UInt8].self) == [bytes])
    }

    @Test func `rows read as tuples, by name and by number`() throws {
        let rows = try connection.query("SELECT n::int8 AS number, 'x' || n AS text FROM generate_series(1, 3) n")
        #expect(try rows.decode(Int.self, String.self).map(\.0) == [1, 2, 3])
        #expect(try rows[2].decode("text", as: String.self) == "x3")
        #expect(rows.columns == ["number", "text"])
    }

    @Test(arguments: ["SELECT NULL::int8", "SELECT 'a'::text", "SELECT 1::float8"] as [String])
    func `what is no such value is an error, not a crash`(text: String) throws {
        let rows = try connection.query(SQL(unsafe: text))
        let error = #expect(throws: PostgresError.self) { try rows.column(Int64.self) }
        #expect(error?.code == .mismatch)
    }

    @Test func `a column that is not there is an error`() throws {
        let rows = try connection.query("SELECT 1 AS a")
        #expect(throws: PostgresError.self) { _ = try rows[0].decode("b", as: Int.self) }
        #expect(throws: PostgresError.self) { _ = try rows[0].decode(1, as: Int.self) }
    }

    @Test func `a batch is one transaction`() throws {
        try connection.script("CREATE TABLE t (id int8 PRIMARY KEY)")
        #expect(throws: PostgresError.self) {
            try connection.batch(["INSERT INTO t VALUES (\(1))", "INSERT INTO t VALUES (\(2))", "INSERT INTO t VALUES (\(1))"])
        }
        #expect(try connection.query("SELECT count(*) FROM t").column(Int.self) == [0])
        let results = try connection.batch([
            "INSERT INTO t VALUES (\(1)), (\(2))", "SELECT id FROM t ORDER BY id", "DELETE FROM t",
        ])
        #expect(results.map(\.affected) == [2, 2, 2])
        #expect(try results[1].column(Int.self) == [1, 2])
    }

    @Test func `a refused statement leaves the connection usable`() throws {
        for _ in 0..<3 {
            let error = #expect(throws: PostgresError.self) { try connection.query("SELECT * FROM nowhere") }
            #expect(error?.state == .undefinedTable)
            #expect(error?.isRetriable == false)
            #expect(try connection.query("SELECT 1::int8").column(Int.self) == [1])
        }
    }

    @Test func `a statement that failed to prepare is prepared again`() throws {
        #expect(throws: PostgresError.self) { try connection.query("SELECT id FROM later") }
        try connection.script("CREATE TABLE later (id int8)")
        #expect(try connection.query("SELECT id FROM later").isEmpty)
    }

    @Test func `a table replaced under a prepared statement is prepared for again`() throws {
        try connection.script("CREATE TABLE swapped (a int8)")
        for _ in 0..<8 { try connection.query("SELECT * FROM swapped") }
        try connection.script("DROP TABLE swapped; CREATE TABLE swapped (a int8, b text)")
        #expect(try connection.query("SELECT * FROM swapped").columns == ["a", "b"])
    }

    @Test func `a table replaced under a transaction lets it be tried again`() throws {
        try connection.script("CREATE TABLE swapped (a int8)")
        for _ in 0..<8 { try connection.query("SELECT * FROM swapped") }
        try connection.script("DROP TABLE swapped; CREATE TABLE swapped (a int8, b text)")
        func read() throws -> [String] { try connection.transaction { try $0.query("SELECT * FROM swapped").columns } }
        let error = #expect(throws: PostgresError.self) { try read() }
        #expect(error?.isRetriable == true)
        #expect(try read() == ["a", "b"])
    }

    @Test func `more statements than the server should remember`() throws {
        for number in 0..<600 {
            #expect(try connection.query(SQL(unsafe: "SELECT \(number)::int8")).column(Int.self) == [number])
        }
        let kept = try connection.query("SELECT count(*) FROM pg_prepared_statements").column(Int.self)[0]
        #expect(kept <= 260)
        #expect(try connection.query("SELECT 0::int8").column(Int.self) == [0])
    }

    @Test func `the same statement is prepared once`() throws {
        for number in 0..<10 { try connection.query("SELECT \(number)") }
        #expect(
            try connection.query("SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT $1'").column(Int.self)
                == [1])
    }

    @Test func `neither a value nor a detail shows in an error`() throws {
        try connection.script(
            "CREATE TABLE people (email text UNIQUE, age int4 CHECK (age > 0), CONSTRAINT young CHECK (age < 200))")
        try connection.query("INSERT INTO people VALUES (\("secret@example.com"), 5)")
        let refused: [SQL] = [
            "INSERT INTO people VALUES (\("secret@example.com"), 6)",
            "SELECT \("secret@example.com")::int4",
            "SELECT \("secret@example.com")::jsonb",
            "INSERT INTO people VALUES (\("secret@example.com2"), 999)",
            "INSERT INTO people VALUES (\("secret@example.com\0"), 1)",
        ]
        for sql in refused {
            let error = #expect(throws: PostgresError.self) { try connection.query(sql) }
            #expect(error.map { !"\($0)".contains("secret") && !String(reflecting: $0).contains("secret") } == true)
        }
        let error = #expect(throws: PostgresError.self) { try connection.query(refused[0]) }
        #expect(error?.state == .uniqueViolation)
        #expect(error?.constraint == "people_email_key")
    }

    @Test func `a statement that takes too long is ended on the server too`() throws {
        connection.statementTimeout = .milliseconds(100)
        let pid = connection.backendPID
        let error = #expect(throws: PostgresError.self) { try connection.query("SELECT pg_sleep(30)") }
        #expect(error?.code == .timedOut)
        #expect(connection.isBroken)
        let other = try database.connect()
        while try !other.query("SELECT 1 FROM pg_stat_activity WHERE pid = \(pid)").isEmpty {}
    }

    @Test func `a connection string that cannot be read does not show`() {
        let error = #expect(throws: PostgresError.self) {
            try PostgresConnection(.init("host=localhost password='secret", applicationName: "test"))
        }
        #expect(error?.code == .misconfigured)
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }

    @Test func `settings hold for the session`() throws {
        var configuration = PostgresConnection.Configuration(database.connectionString, applicationName: "settings")
        configuration.settings = ["synchronous_commit": "off", "jit": "off"]
        let connection = try PostgresConnection(configuration)
        #expect(try connection.query("SHOW synchronous_commit").column(String.self) == ["off"])
        #expect(try connection.query("SHOW application_name").column(String.self) == ["settings"])
    }

    @Test func `notifications arrive, and a signal ends the wait for them`() throws {
        let signal = WakeSignal()
        try connection.listen(to: ["one", "two"])
        let other = try database.connect()
        try other.batch(["SELECT pg_notify('one', 'a')", "SELECT pg_notify('three', 'x')", "SELECT pg_notify('two', 'b')"])
        var received: [PostgresNotification] = []
        while received.count < 2 { received += try connection.notifications(until: nil, or: signal) }
        #expect(received.map(\.channel) == ["one", "two"])
        #expect(received.map(\.payload) == ["a", "b"])
        #expect(received.allSatisfy { $0.sender == other.backendPID })
        signal.raise()
        #expect(try connection.notifications(until: nil, or: signal) == [])
        #expect(signal.clear())
        #expect(!signal.clear())
    }
}
