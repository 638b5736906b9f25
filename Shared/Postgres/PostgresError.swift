/// What went wrong with a statement or a connection.
///
/// The description holds no value of any row or parameter: of what the server said it shows the SQLSTATE, the names in the
/// schema, and the primary message where that cannot quote data; never its DETAIL, and never the text of the statement's
/// parameters.
public struct PostgresError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The server cannot be reached, or the connection broke. The outcome of a statement that was running is unknown.
        case unavailable
        /// No connection became free in time, or too many callers wait for one. Nothing was done.
        case exhausted
        /// A statement took longer than the connection's time limit. Its outcome is unknown; the connection is gone.
        case timedOut
        /// The caller's task was cancelled. The outcome of a statement that was running is unknown; the connection is gone.
        case cancelled
        /// The server refused a statement; `state` says why.
        case refused
        /// A result has another shape than the caller asked for.
        case mismatch
        /// A migration was changed or is missing, or its number is wrong.
        case migration
        /// The connection string cannot be read.
        case misconfigured
        /// The pool or the connection was closed.
        case closed
    }

    public var code: Code
    /// The server's SQLSTATE, where there is one.
    public var state: SQLState?
    /// The constraint that was violated, where the server names one.
    public var constraint: String?
    /// What happened and where, for the operator.
    public var reason: String

    public init(_ code: Code, state: SQLState? = nil, constraint: String? = nil, _ reason: String) {
        self.code = code
        self.state = state
        self.constraint = constraint
        self.reason = reason
    }

    /// Whether the same work may succeed if it is done again from its beginning.
    public var isRetriable: Bool {
        switch code {
        case .unavailable, .exhausted, .timedOut: true
        case .refused: state?.isTransient ?? false || isStalePlan
        case .cancelled, .mismatch, .migration, .misconfigured, .closed: false
        }
    }

    /// Whether the server, rather than the statement, is the trouble.
    public var isOutage: Bool {
        switch code {
        case .unavailable, .timedOut: true
        case .refused: state?.isOutage ?? false
        default: false
        }
    }

    /// A prepared statement does not fit its tables any more, or is not there.
    var isStalePlan: Bool { state?.rawValue == "26000" || state?.rawValue == "0A000" && reason.hasPrefix("cached plan") }

    public var description: String {
        var text = "Postgres: \(code.rawValue)"
        if let state { text += " \(state.rawValue)" }
        if let constraint { text += " (\(constraint))" }
        return reason.isEmpty ? text : "\(text): \(reason)"
    }
}

/// A five-character code from appendix A of the Postgres manual.
public struct SQLState: RawRepresentable, Hashable, Sendable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let uniqueViolation = SQLState(rawValue: "23505")
    public static let foreignKeyViolation = SQLState(rawValue: "23503")
    public static let checkViolation = SQLState(rawValue: "23514")
    public static let serializationFailure = SQLState(rawValue: "40001")
    public static let deadlockDetected = SQLState(rawValue: "40P01")
    public static let failedTransaction = SQLState(rawValue: "25P02")
    public static let diskFull = SQLState(rawValue: "53100")
    public static let lockNotAvailable = SQLState(rawValue: "55P03")
    public static let undefinedTable = SQLState(rawValue: "42P01")
    public static let undefinedFunction = SQLState(rawValue: "42883")
    public static let invalidSchema = SQLState(rawValue: "3F000")
    public static let insufficientPrivilege = SQLState(rawValue: "42501")
    public static let raised = SQLState(rawValue: "P0001")

    /// The first two characters.
    public var group: Substring { rawValue.prefix(2) }

    /// The server is shutting down, starting up, crashed, or out of resources.
    var isOutage: Bool { ["08", "53", "57", "58"].contains(group) && rawValue != "57014" }

    /// Another attempt from the beginning may succeed.
    var isTransient: Bool { isOutage || group == "40" || self == .lockNotAvailable || rawValue == "57014" }

    /// Whether the server's primary message for this state names only the schema and the statement, never a value.
    var hasHarmlessMessage: Bool {
        ["08", "25", "26", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58", "P0", "0A"].contains(group)
    }
}
