/// A JSON value (RFC 8259). Strings are equal as Swift's strings are; names of members by their bytes.
public enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number written without fraction and exponent that an `Int64` can hold.
    case integer(Int64)
    /// Every other number. Infinity and NaN have no JSON form; they are written as `null`, as ECMAScript does.
    case number(Double)
    case string(String)
    case array([JSON])
    case object(JSONObject)
}

extension JSON {
    /// The member of that name, if this is an object that has it.
    public subscript(_ key: String) -> JSON? { object?[key] }

    public var isNull: Bool { self == .null }

    public var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    /// The number, if it is whole and fits; `5.0` and `5e0` are as whole as `5`.
    public var int64: Int64? {
        switch self {
        case .integer(let integer): integer
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }

    public var double: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    public var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    public var array: [JSON]? {
        if case .array(let array) = self { array } else { nil }
    }

    public var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(JSONObject(elements)) }
}
