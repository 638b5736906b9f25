/// Why a message cannot be read or is not what it must be. It names types and fields, never a value.
///
/// All of these mean that the reader must give the partition up, loudly: a record that it must understand and does not is
/// never skipped.
public enum SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No version of this type is known here: a newer release wrote it.
    case unknownType(String)
    /// The type is known, and belongs to another topic than the one that it was read from.
    case misplaced(MessageType)
    /// The data is not a JSON object.
    case notAnObject(type: String)
    /// The field is missing, or does not hold what it must.
    case malformed(type: String, field: String)

    public var description: String {
        switch self {
        case .unknownType(let name): "unknown type '\(Self.printable(name))'"
        case .misplaced(let type): "type '\(type.name)' does not belong here"
        case .notAnObject(let type): "the data of '\(type)' is not a JSON object"
        case .malformed(let type, let field): "field '\(field)' of '\(type)' is malformed"
        }
    }

    /// A name from a record that nobody here knows: only what type names are made of, and not much of it.
    private static func printable(_ name: String) -> String {
        String(name.unicodeScalars.prefix(100).map { $0.isASCII && $0.value > 32 && $0.value != 127 ? Character($0) : "?" })
    }
}
