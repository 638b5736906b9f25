internal import Crypto
internal import EventSchema
internal import Postgres
internal import Projections

/// One row of a table of the projection, as a rebuild holds it in memory. `home` and `partition`, the first two columns, are
/// those of the home that it is in.
protocol HomeRow: Sendable {
    static var table: String { get }
    /// Those after `home` and `partition`.
    static var columns: [String] { get }

    /// Adds the values of the columns, in their order.
    func write(to rows: inout CopyRows)

    /// Reads the columns, in their order.
    init(_ cells: inout RowCells) throws(PostgresError)

    static func each(in records: HomeRecords, _ body: (Self) -> Void)

    func insert(into records: inout HomeRecords)
}

extension HomeRow {
    static var allColumns: [String] { ["home", "partition"] + columns }
}

/// The cells of a row, one after the other.
struct RowCells {
    private let row: PostgresRow
    private var column = -1

    init(_ row: PostgresRow) { self.row = row }

    mutating func next<Value: PostgresDecodable>(_ type: Value.Type = Value.self) throws(PostgresError) -> Value {
        column += 1
        return try row.decode(column, as: type)
    }

    private func required<Value>(_ value: Value?) throws(PostgresError) -> Value {
        guard let value else { throw PostgresError(.mismatch, "column \(column) of a row has no valid value") }
        return value
    }

    mutating func id<ID: UUIDIdentifier>() throws(PostgresError) -> ID { try required(try optionalID()) }
    mutating func optionalID<ID: UUIDIdentifier>() throws(PostgresError) -> ID? {
        guard let uuid = try next(PostgresUUID?.self) else { return nil }
        return try required(ID(bytes: uuid.bytes))
    }
    mutating func subject() throws(PostgresError) -> Subject { try required(Subject(bytes: try next([UInt8].self))) }
    mutating func home() throws(PostgresError) -> RoutingKey { try required(RoutingKey(bytes: try next([UInt8].self))) }
    mutating func time() throws(PostgresError) -> Timestamp { Timestamp(try next(PostgresTimestamp.self)) }
    mutating func optionalTime() throws(PostgresError) -> Timestamp? {
        try next(PostgresTimestamp?.self).map { Timestamp($0) }
    }
    mutating func choice<Value: RawRepresentable<String>>() throws(PostgresError) -> Value {
        try required(Value(rawValue: try next(String.self)))
    }
}

extension CopyRows {
    mutating func append(id: (some UUIDIdentifier)?) { append(raw: id?.bytes) }
    mutating func append(time: Timestamp?) { append(time.map { PostgresTimestamp($0) }) }
}
