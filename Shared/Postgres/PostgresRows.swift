import CPostgres

/// The rows of one statement.
public struct PostgresRows: Sendable, RandomAccessCollection {
    /// Owns libpq's result, which nobody changes once it has arrived: it is only read, from any thread.
    final class Storage: @unchecked Sendable {
        let result: OpaquePointer
        init(_ result: OpaquePointer) { self.result = result }
        deinit { PQclear(result) }
    }

    let storage: Storage

    init(_ result: OpaquePointer) { storage = Storage(result) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { Int(PQntuples(storage.result)) }
    public subscript(index: Int) -> PostgresRow {
        precondition(indices.contains(index), "no such row")
        return PostgresRow(storage: storage, index: Int32(index))
    }

    /// How many rows an `INSERT`, `UPDATE`, `DELETE` or `MERGE` touched, or a `SELECT` gave.
    public var affected: Int { Int(String(cString: PQcmdTuples(storage.result))) ?? 0 }

    /// The command's tag without its numbers (`COMMIT`, for example).
    var command: Substring {
        String(cString: PQcmdStatus(storage.result)).prefix { !$0.isNumber }
    }

    /// The names of the columns, in order.
    public var columns: [String] {
        (0..<PQnfields(storage.result)).map { String(cString: PQfname(storage.result, $0)) }
    }

    /// Every row as a tuple: `try rows.decode(Int64.self, String?.self)`.
    public func decode<each Value: PostgresDecodable>(
        _ types: repeat (each Value).Type
    ) throws(PostgresError) -> [(repeat each Value)] {
        var all: [(repeat each Value)] = []
        all.reserveCapacity(count)
        for row in self { all.append(try row.decode(repeat each types)) }
        return all
    }

    /// The rows' first columns.
    public func column<Value: PostgresDecodable>(_ type: Value.Type = Value.self) throws(PostgresError) -> [Value] {
        var all: [Value] = []
        all.reserveCapacity(count)
        for row in self { all.append(try row.decode(0, as: type)) }
        return all
    }
}

/// One row of a result.
public struct PostgresRow: Sendable {
    let storage: PostgresRows.Storage
    let index: Int32

    /// The value in a column, counted from 0.
    public func decode<Value: PostgresDecodable>(_ column: Int, as _: Value.Type = Value.self) throws(PostgresError) -> Value {
        let result = storage.result
        let field = Int32(column)
        guard field >= 0, field < PQnfields(result) else { throw PostgresError(.mismatch, "the result has no column \(column)") }
        if PQgetisnull(result, index, field) == 1 {
            guard let null = Value.postgresNull else { throw PostgresError(.mismatch, "\(name(field)) is NULL") }
            return null
        }
        let type = PostgresType(oid: PQftype(result, field))
        let bytes = UnsafeRawBufferPointer(start: PQgetvalue(result, index, field), count: Int(PQgetlength(result, index, field)))
        guard let value = Value(postgres: bytes, type: type) else {
            throw PostgresError(.mismatch, "\(name(field)) (type \(type.oid)) is no \(Value.self)")
        }
        return value
    }

    /// The value in the column of this name.
    public func decode<Value: PostgresDecodable>(_ column: String, as type: Value.Type = Value.self) throws(PostgresError)
        -> Value
    {
        let field = PQfnumber(storage.result, "\"\(column)\"")
        guard field >= 0 else { throw PostgresError(.mismatch, "the result has no column \(column)") }
        return try decode(Int(field), as: type)
    }

    /// The first columns as a tuple.
    public func decode<each Value: PostgresDecodable>(
        _ types: repeat (each Value).Type
    ) throws(PostgresError) -> (repeat each Value) {
        var column = -1
        func next<One: PostgresDecodable>(_ type: One.Type) throws(PostgresError) -> One {
            column += 1
            return try decode(column, as: type)
        }
        return (repeat try next(each types))
    }

    /// The bytes of a column as the server sent them, without a copy; `nil` for NULL.
    public func withBytes<Value>(_ column: Int, _ body: (UnsafeRawBufferPointer?) throws -> Value) rethrows -> Value {
        let result = storage.result
        let field = Int32(column)
        precondition(field >= 0 && field < PQnfields(result), "no such column")
        if PQgetisnull(result, index, field) == 1 { return try body(nil) }
        return try withExtendedLifetime(storage) {
            try body(
                UnsafeRawBufferPointer(start: PQgetvalue(result, index, field), count: Int(PQgetlength(result, index, field))))
        }
    }

    private func name(_ field: Int32) -> String { String(cString: PQfname(storage.result, field)) }
}
