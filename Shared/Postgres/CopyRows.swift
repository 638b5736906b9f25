/// Rows in Postgres' binary COPY format, gathered in one buffer.
///
/// Source: PostgreSQL 15, documentation of COPY, "Binary Format".
public struct CopyRows: Sendable {
    private(set) var bytes: [UInt8] = []
    /// Rows that were begun.
    public private(set) var count = 0
    private let columns: Int

    public init(columns: Int) { self.columns = columns }

    /// What the buffer takes, in bytes.
    public var size: Int { bytes.count }

    /// Begins a row: as many values follow as there are columns.
    public mutating func begin() {
        count += 1
        bytes.appendBigEndian(Int16(columns))
    }

    public mutating func append(_ value: (some PostgresEncodable)?) {
        guard let value = value?.postgresBytes else { return bytes.appendBigEndian(Int32(-1)) }
        append(raw: value)
    }

    public mutating func append(text: String?) {
        guard let text else { return bytes.appendBigEndian(Int32(-1)) }
        bytes.appendBigEndian(Int32(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// A value whose bytes are the same in binary form: `bytea`, `uuid`.
    public mutating func append(raw value: [UInt8]?) {
        guard let value else { return bytes.appendBigEndian(Int32(-1)) }
        bytes.appendBigEndian(Int32(value.count))
        bytes.append(contentsOf: value)
    }

    public mutating func append(_ number: Int64) {
        bytes.appendBigEndian(Int32(8))
        bytes.appendBigEndian(number)
    }

    public mutating func append(_ number: Int32) {
        bytes.appendBigEndian(Int32(4))
        bytes.appendBigEndian(number)
    }

    public mutating func append(_ time: PostgresTimestamp?) {
        guard let time else { return bytes.appendBigEndian(Int32(-1)) }
        append((time.milliseconds - PostgresTimestamp.epoch) * 1_000)
    }

    /// Signature, no flags, no extension.
    static let header = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0] + [UInt8](repeating: 0, count: 8)
    static let trailer: [UInt8] = [0xff, 0xff]
}
