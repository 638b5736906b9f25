/// A Swift value that can be a parameter.
public protocol PostgresEncodable {
    static var postgresType: PostgresType { get }
    /// The value in Postgres' binary format; `nil` is NULL.
    var postgresBytes: [UInt8]? { get }
}

extension PostgresEncodable {
    public var postgresBind: SQL.Bind { SQL.Bind(type: Self.postgresType, bytes: postgresBytes) }
}

/// An element of an array parameter or result. `UInt8` is one so that `[UInt8]` can be `bytea` rather than an array.
public protocol PostgresArrayElement {
    static var postgresArrayType: PostgresType { get }
    static func postgresBytes(of elements: [Self]) -> [UInt8]
}

extension PostgresArrayElement where Self: PostgresEncodable {
    /// One dimension, lower bound 1.
    public static func postgresBytes(of elements: [Self]) -> [UInt8] {
        let encoded = elements.map(\.postgresBytes)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + encoded.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
        bytes.appendBigEndian(Int32(elements.isEmpty ? 0 : 1))
        bytes.appendBigEndian(Int32(encoded.contains { $0 == nil } ? 1 : 0))
        bytes.appendBigEndian(postgresType.oid)
        guard !elements.isEmpty else { return bytes }
        bytes.appendBigEndian(Int32(elements.count))
        bytes.appendBigEndian(Int32(1))
        for element in encoded {
            if let element {
                bytes.appendBigEndian(Int32(element.count))
                bytes += element
            } else {
                bytes.appendBigEndian(Int32(-1))
            }
        }
        return bytes
    }
}

extension [UInt8] {
    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    init(bigEndian value: some FixedWidthInteger) {
        self = []
        appendBigEndian(value)
    }
}

extension Bool: PostgresEncodable, PostgresArrayElement {
    public static var postgresType: PostgresType { .bool }
    public static var postgresArrayType: PostgresType { .boolArray }
    public var postgresBytes: [UInt8]? { [self ? 1 : 0] }
}

extension Int16: PostgresEncodable, PostgresArrayElement {
    public static var postgresType: PostgresType { .int2 }
    public static var postgresArrayType: PostgresType { .int2Array }
    public var postgresBytes: [UInt8]? { [UInt8](bigEndian: self) }
}

extension Int32: PostgresEncodable, PostgresArrayElement {
    public static var postgresType: PostgresType { .int4 }
    public static var postgresArrayType: PostgresType { .int4Array }
    public var postgresBytes: [UInt8]? { [UInt8](bigEndian: self) }
}

extension Int64: PostgresEncodable, PostgresArrayElement {
    public static var postgresType: PostgresType { .int8 }
    public static var postgresArrayType: PostgresType { .int8Array }
    public var postgresBytes: [UInt8]? { [UInt8](bigEndian: self) }
}

extension Int: PostgresEncodable, PostgresArrayElement {
    public static var postgresType: PostgresType { .int8 }
    public static var postgresArrayType: PostgresType { .int8Array }
    public var postgresBytes: [UInt8]? { [UInt8](bigEndian: Int64(self)) }
}

extension Double: PostgresEncodable, PostgresArrayElement {
    public static var postgresType: PostgresType { .float8 }
    public static var postgresArrayType: PostgresType { .float8Array }
    public var postgresBytes: [UInt8]? { [UInt8](bigEndian: bitPattern) }
}

extension String: PostgresEncodable, PostgresArrayElement {
    public static var postgresType: PostgresType { .text }
    public static var postgresArrayType: PostgresType { .textArray }
    /// Postgres refuses text that contains NUL (`22021`).
    public var postgresBytes: [UInt8]? { Array(utf8) }
}

extension Array: PostgresEncodable where Element: PostgresArrayElement {
    public static var postgresType: PostgresType { Element.postgresArrayType }
    public var postgresBytes: [UInt8]? { Element.postgresBytes(of: self) }
}

extension UInt8: PostgresArrayElement {
    public static var postgresArrayType: PostgresType { .bytea }
    public static func postgresBytes(of elements: [UInt8]) -> [UInt8] { elements }
}

extension Array: PostgresArrayElement where Element == UInt8 {
    public static var postgresArrayType: PostgresType { .byteaArray }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    public static var postgresType: PostgresType { Wrapped.postgresType }
    public var postgresBytes: [UInt8]? { self?.postgresBytes }
}

extension Optional: PostgresArrayElement where Wrapped: PostgresArrayElement & PostgresEncodable {
    public static var postgresArrayType: PostgresType { Wrapped.postgresArrayType }
}
