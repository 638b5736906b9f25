public import JSON

/// The fields of a message's JSON form, read by name. Everything throws `.malformed` with the name of the field.
public struct Fields: Sendable {
    private let type: String
    private let object: JSONObject

    public init(type: String, _ object: JSONObject) {
        self.type = type
        self.object = object
    }

    public func malformed(_ name: String) -> SchemaError { .malformed(type: type, field: name) }

    /// The field, unless it is missing or `null`.
    private func present(_ name: String) -> JSON? {
        switch object[name] {
        case nil, .null?: nil
        case let value?: value
        }
    }

    // MARK: What must be there

    /// Any text without NUL.
    public func string(_ name: String) throws(SchemaError) -> String {
        guard let text = try optionalString(name) else { throw malformed(name) }
        return text
    }

    public func integer(_ name: String, in range: ClosedRange<Int64>) throws(SchemaError) -> Int64 {
        guard case .integer(let number)? = object[name], range.contains(number) else { throw malformed(name) }
        return number
    }

    public func bool(_ name: String) throws(SchemaError) -> Bool {
        guard case .bool(let flag)? = object[name] else { throw malformed(name) }
        return flag
    }

    /// A text that stands for something else.
    public func value<Value>(_ name: String, _ read: (String) -> Value?) throws(SchemaError) -> Value {
        guard case .string(let text)? = object[name], let value = read(text) else { throw malformed(name) }
        return value
    }

    /// One of the texts that an enumeration stands for.
    public func choice<Value: RawRepresentable<String>>(_ name: String) throws(SchemaError) -> Value {
        try value(name) { Value(rawValue: $0) }
    }

    public func time(_ name: String) throws(SchemaError) -> Timestamp { try value(name) { Timestamp(rfc3339: $0) } }

    /// A list of texts that stand for something else.
    public func list<Value>(_ name: String, _ read: (String) -> Value?) throws(SchemaError) -> [Value] {
        guard case .array(let items)? = object[name] else { throw malformed(name) }
        var values: [Value] = []
        values.reserveCapacity(items.count)
        for item in items {
            guard case .string(let text) = item, let value = read(text) else { throw malformed(name) }
            values.append(value)
        }
        return values
    }

    /// A nested object. Errors inside name the path (`account.user`).
    public func object<Value>(_ name: String, _ read: (Fields) throws(SchemaError) -> Value) throws(SchemaError) -> Value {
        guard let value = try optionalObject(name, read) else { throw malformed(name) }
        return value
    }

    // MARK: What may be missing or null

    /// Any text without NUL, or nothing.
    public func optionalString(_ name: String) throws(SchemaError) -> String? {
        guard let field = present(name) else { return nil }
        guard case .string(let text) = field, !text.utf8.contains(0) else { throw malformed(name) }
        return text
    }

    /// A text that stands for something else, or nothing.
    public func optional<Value>(_ name: String, _ read: (String) -> Value?) throws(SchemaError) -> Value? {
        guard let field = present(name) else { return nil }
        guard case .string(let text) = field, let value = read(text) else { throw malformed(name) }
        return value
    }

    public func optionalInteger(_ name: String, in range: ClosedRange<Int64>) throws(SchemaError) -> Int64? {
        present(name) == nil ? nil : try integer(name, in: range)
    }

    public func optionalBool(_ name: String) throws(SchemaError) -> Bool? { present(name) == nil ? nil : try bool(name) }

    public func optionalTime(_ name: String) throws(SchemaError) -> Timestamp? { try optional(name) { Timestamp(rfc3339: $0) } }

    /// A nested object, or nothing. Errors inside name the path (`account.user`).
    public func optionalObject<Value>(
        _ name: String, _ read: (Fields) throws(SchemaError) -> Value
    ) throws(SchemaError) -> Value? {
        guard let field = present(name) else { return nil }
        guard case .object(let nested) = field else { throw malformed(name) }
        do {
            return try read(Fields(type: type, nested))
        } catch .malformed(_, let field) {
            throw malformed("\(name).\(field)")
        }
    }

    /// Any JSON object, as it is, or nothing.
    public func optionalJSON(_ name: String) throws(SchemaError) -> JSON? {
        guard let field = present(name) else { return nil }
        guard case .object = field else { throw malformed(name) }
        return field
    }
}

extension JSON {
    /// The text, or `null`.
    static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
}
