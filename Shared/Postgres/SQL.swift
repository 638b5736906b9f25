/// A statement and what it binds. Interpolated values become parameters, never text:
///
///     "SELECT name FROM clients WHERE id = \(id)"        →  SELECT name FROM clients WHERE id = $1
///     "DELETE FROM \(unsafe: table) WHERE at < \(time)"  →  `table` is put in as it stands
///
/// A bound value has exactly the Postgres type of its Swift type (`Int64` is `int8`, `String` is `text`, `[UInt8]` is
/// `bytea`): where another is meant, the statement casts it (`\(text)::jsonb`).
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    /// A parameter in Postgres' binary format; `nil` is NULL.
    public struct Bind: Hashable, Sendable {
        public var type: PostgresType
        public var bytes: [UInt8]?

        public init(type: PostgresType, bytes: [UInt8]?) {
            self.type = type
            self.bytes = bytes
        }
    }

    /// What stands between the binds: always one more than there are binds.
    private var pieces: [String]
    public private(set) var binds: [Bind]

    public init(stringLiteral text: String) {
        pieces = [text]
        binds = []
    }

    public init(stringInterpolation: StringInterpolation) {
        pieces = stringInterpolation.pieces
        binds = stringInterpolation.binds
    }

    /// Trusted text, without binds. Never text that came from outside.
    public init(unsafe text: String) { self.init(stringLiteral: text) }

    /// The statement as the server sees it, with `$1`, `$2`, … for the binds.
    public var text: String {
        guard pieces.count > 1 else { return pieces[0] }
        var text = pieces[0]
        for index in 1..<pieces.count {
            text += "$"
            text += String(index)
            text += pieces[index]
        }
        return text
    }

    /// `left` followed by `right`.
    public static func + (left: SQL, right: SQL) -> SQL {
        var both = left
        both.append(right)
        return both
    }

    private mutating func append(_ other: SQL) {
        pieces[pieces.count - 1] += other.pieces[0]
        pieces += other.pieces.dropFirst()
        binds += other.binds
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces = [""]
        fileprivate var binds: [Bind] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            pieces.reserveCapacity(interpolationCount + 1)
            binds.reserveCapacity(interpolationCount)
        }

        public mutating func appendLiteral(_ literal: String) {
            if pieces[pieces.count - 1].isEmpty {
                pieces[pieces.count - 1] = literal
            } else {
                pieces[pieces.count - 1] += literal
            }
        }

        public mutating func appendInterpolation(_ value: some PostgresEncodable) { bind(value.postgresBind) }

        /// NULL, or the value. (With the other one alone the compiler takes every optional for a mistake.)
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) { bind(value.postgresBind) }

        public mutating func appendInterpolation(_ bind: Bind) { self.bind(bind) }

        /// Another statement's text and binds.
        public mutating func appendInterpolation(_ fragment: SQL) {
            pieces[pieces.count - 1] += fragment.pieces[0]
            pieces += fragment.pieces.dropFirst()
            binds += fragment.binds
        }

        /// A trusted fragment (the name of a table, for example), put in as it stands.
        public mutating func appendInterpolation(unsafe text: String) { pieces[pieces.count - 1] += text }

        private mutating func bind(_ bind: Bind) {
            binds.append(bind)
            pieces.append("")
        }
    }
}
