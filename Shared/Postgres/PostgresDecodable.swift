/// A Swift value that can be read out of a result.
public protocol PostgresDecodable {
    /// `nil` if these bytes of this type are no such value.
    init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType)

    /// What NULL is read as; `nil` if it cannot be.
    static var postgresNull: Self? { get }
}

extension PostgresDecodable {
    public static var postgresNull: Self? { nil }
}

extension UnsafeRawBufferPointer {
    /// These bytes as one integer, if they are as many as it has.
    func bigEndian<Value: FixedWidthInteger>(_: Value.Type) -> Value? {
        guard count == MemoryLayout<Value>.size else { return nil }
        return Value(bigEndian: loadUnaligned(as: Value.self))
    }
}

extension Bool: PostgresDecodable {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        guard type == .bool, bytes.count == 1 else { return nil }
        self = bytes[0] != 0
    }
}

extension Int16: PostgresDecodable {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        guard type == .int2, let value = bytes.bigEndian(Int16.self) else { return nil }
        self = value
    }
}

extension Int32: PostgresDecodable {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        guard let value = Int64(postgres: bytes, type: type) else { return nil }
        self.init(exactly: value)
    }
}

extension Int64: PostgresDecodable {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        let value: Int64? =
            switch type {
            case .int8: bytes.bigEndian(Int64.self)
            case .int4: bytes.bigEndian(Int32.self).map(Int64.init)
            case .int2: bytes.bigEndian(Int16.self).map(Int64.init)
            default: nil
            }
        guard let value else { return nil }
        self = value
    }
}

extension Int: PostgresDecodable {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        guard let value = Int64(postgres: bytes, type: type) else { return nil }
        self.init(exactly: value)
    }
}

extension Double: PostgresDecodable {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        switch type {
        case .float8:
            guard let bits = bytes.bigEndian(UInt64.self) else { return nil }
            self.init(bitPattern: bits)
        case .float4:
            guard let bits = bytes.bigEndian(UInt32.self) else { return nil }
            self.init(Float(bitPattern: bits))
        default: return nil
        }
    }
}

extension String: PostgresDecodable {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        switch type {
        case .text, .varchar, .bpchar, .name, .json: self.init(decoding: bytes, as: UTF8.self)
        case .jsonb where bytes.first == 1: self.init(decoding: bytes.dropFirst(), as: UTF8.self)
        default: return nil
        }
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        guard let value = Wrapped(postgres: bytes, type: type) else { return nil }
        self = .some(value)
    }

    public static var postgresNull: Wrapped?? { .some(nil) }
}

/// An element of an array that can be read. `UInt8` is one so that `[UInt8]` can be `bytea`.
public protocol PostgresDecodableElement {
    static func elements(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) -> [Self]?
}

extension PostgresDecodableElement where Self: PostgresDecodable {
    public static func elements(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) -> [Self]? {
        var rest = bytes[...]
        func next(_ count: Int) -> UnsafeRawBufferPointer? {
            guard count >= 0, rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        }
        func int32() -> Int32? { next(4).flatMap { $0.bigEndian(Int32.self) } }

        guard let dimensions = int32(), int32() != nil, let element = int32() else { return nil }
        if dimensions == 0 { return [] }
        guard dimensions == 1, let count = int32(), count >= 0, int32() != nil else { return nil }
        let elementType = PostgresType(oid: UInt32(bitPattern: element))
        var elements: [Self] = []
        elements.reserveCapacity(min(Int(count), rest.count / 4))
        for _ in 0..<count {
            guard let length = int32() else { return nil }
            if length == -1 {
                guard let null = Self.postgresNull else { return nil }
                elements.append(null)
            } else {
                guard let bytes = next(Int(length)), let value = Self(postgres: bytes, type: elementType) else { return nil }
                elements.append(value)
            }
        }
        return elements
    }
}

extension Array: PostgresDecodable where Element: PostgresDecodableElement {
    public init?(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) {
        guard let elements = Element.elements(postgres: bytes, type: type) else { return nil }
        self = elements
    }
}

extension UInt8: PostgresDecodableElement {
    public static func elements(postgres bytes: UnsafeRawBufferPointer, type: PostgresType) -> [UInt8]? {
        type == .bytea ? Array(bytes) : nil
    }
}

extension Array: PostgresDecodableElement where Element == UInt8 {}
extension Bool: PostgresDecodableElement {}
extension Int16: PostgresDecodableElement {}
extension Int32: PostgresDecodableElement {}
extension Int64: PostgresDecodableElement {}
extension Int: PostgresDecodableElement {}
extension Double: PostgresDecodableElement {}
extension String: PostgresDecodableElement {}
extension PostgresTimestamp: PostgresDecodableElement {}
extension PostgresUUID: PostgresDecodableElement {}
extension PostgresJSON: PostgresDecodableElement {}
extension Optional: PostgresDecodableElement where Wrapped: PostgresDecodable {}
