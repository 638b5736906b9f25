/// A `timestamptz`, in whole milliseconds since 1970-01-01T00:00:00Z. What Postgres keeps below a millisecond is cut off.
public struct PostgresTimestamp: Hashable, Comparable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: PostgresTimestamp, right: PostgresTimestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// Postgres counts microseconds from 2000-01-01T00:00:00Z.
    static let epoch: Int64 = 946_684_800_000
}

extension PostgresTimestamp: PostgresEncodable, PostgresArrayElement {
    public static var postgresType: PostgresType { .timestamptz }
    public static var postgresArrayType: PostgresType { .timestamptzArray }
    public var postgresBytes: [UInt8]? { [UInt8](bigEndian: (milliseconds - Self.epoch) * 1_000) }
}

extension PostgresTimestamp: PostgresDecodable {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        guard type == .timestamptz, let microseconds = bytes.bigEndian(Int64.self) else { return nil }
        milliseconds = (microseconds >= 0 ? microseconds / 1_000 : (microseconds - 999) / 1_000) + Self.epoch
    }
}

/// A `uuid`: 16 bytes.
public struct PostgresUUID: Hashable, Sendable {
    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) {
        precondition(bytes.count == 16, "a UUID has 16 bytes")
        self.bytes = bytes
    }
}

extension PostgresUUID: PostgresEncodable, PostgresArrayElement {
    public static var postgresType: PostgresType { .uuid }
    public static var postgresArrayType: PostgresType { .uuidArray }
    public var postgresBytes: [UInt8]? { bytes }
}

extension PostgresUUID: PostgresDecodable {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        guard type == .uuid, bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }
}

/// A `jsonb` value as UTF-8 text; reads `json` as well.
public struct PostgresJSON: Hashable, Sendable {
    public var text: [UInt8]

    public init(_ text: [UInt8]) { self.text = text }
}

extension PostgresJSON: PostgresEncodable, PostgresArrayElement {
    public static var postgresType: PostgresType { .jsonb }
    public static var postgresArrayType: PostgresType { .jsonbArray }
    /// The binary format of `jsonb` is its text after a version number.
    public var postgresBytes: [UInt8]? { [1] + text }
}

extension PostgresJSON: PostgresDecodable {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        switch type {
        case .jsonb where bytes.first == 1: text = Array(bytes.dropFirst())
        case .json: text = Array(bytes)
        default: return nil
        }
    }
}
