import Postgres
import TestSupport
import Testing

@Suite struct `Copying rows` {
    private let database: TestDatabase
    private let connection: PostgresConnection
    private static let columns = ["number", "small", "name", "bytes", "id", "time", "flag", "words"]

    init() throws {
        database = try TestDatabase.create()
        connection = try database.connect()
        try connection.query(
            """
            CREATE TABLE things (number bigint PRIMARY KEY, small integer, name text, bytes bytea, id uuid, time timestamptz,
                flag boolean, words text[])
            """)
    }

    private func rows(_ numbers: Range<Int64>) -> CopyRows {
        var rows = CopyRows(columns: Self.columns.count)
        for number in numbers {
            rows.begin()
            rows.append(number)
            rows.append(Int32(number) * -1)
            rows.append(raw: number % 2 == 0 ? Array("näme \(number)".utf8) : nil)
            rows.append(raw: [0, 255, UInt8(truncatingIfNeeded: number)])
            rows.append(PostgresUUID([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16)))
            rows.append(number % 3 == 0 ? nil : PostgresTimestamp(milliseconds: number))
            rows.append(number % 2 == 0)
            rows.append(["a", "b,\"c"])
        }
        return rows
    }

    @Test func `gives what was put in`() throws {
        try connection.copy(rows(0..<3), into: "things", columns: Self.columns)
        let found = try connection.query("SELECT number, small, name, bytes, id, time, flag, words FROM things ORDER BY number")
            .decode(
                Int64.self, Int32.self, String?.self, [UInt8].self, PostgresUUID.self, PostgresTimestamp?.self, Bool.self,
                [String].self)
        #expect(found.map(\.0) == [0, 1, 2])
        #expect(found.map(\.1) == [0, -1, -2])
        #expect(found.map(\.2) == ["näme 0", nil, "näme 2"])
        #expect(found.map(\.3) == [[0, 255, 0], [0, 255, 1], [0, 255, 2]])
        #expect(found.map(\.4.bytes.first) == [0, 1, 2])
        #expect(found.map(\.5?.milliseconds) == [nil, 1, 2])
        #expect(found.map(\.6) == [true, false, true])
        #expect(found.allSatisfy { $0.7 == ["a", "b,\"c"] })
    }

    @Test func `takes many more rows than fit on the way`() throws {
        try connection.copy(rows(0..<50_000), into: "things", columns: Self.columns)
        #expect(try connection.query("SELECT count(*) FROM things").column(Int.self) == [50_000])
    }

    @Test func `belongs to the transaction around it`() throws {
        struct Enough: Error {}
        #expect(throws: Enough.self) {
            try connection.transaction { connection in
                try connection.copy(rows(0..<10), into: "things", columns: Self.columns)
                #expect(try connection.query("SELECT count(*) FROM things").column(Int.self) == [10])
                throw Enough()
            }
        }
        #expect(try connection.query("SELECT FROM things").isEmpty)
    }

    @Test func `leaves the connection usable when it is refused`() throws {
        try connection.copy(rows(5..<6), into: "things", columns: Self.columns)
        let double = try #require(throws: PostgresError.self) {
            try connection.copy(rows(0..<20_000), into: "things", columns: Self.columns)
        }
        #expect(double.state?.rawValue == "23505")
        let unknown = try #require(throws: PostgresError.self) {
            try connection.copy(rows(0..<1), into: "nothings", columns: Self.columns)
        }
        #expect(unknown.state?.rawValue == "42P01")
        #expect(try connection.query("SELECT count(*) FROM things").column(Int.self) == [1])
    }

    @Test func `of nothing is nothing`() throws {
        try connection.copy(CopyRows(columns: 3), into: "nothings", columns: [])
    }
}
