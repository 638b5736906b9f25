/// What went wrong with the log. The description leaks no record's content.
public struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, CaseIterable, Sendable {
        /// The log cannot be reached, or did not answer in time; the outcome of an append is unknown.
        case unavailable
        /// A topic is missing, or the log was never provisioned.
        case notProvisioned
        /// Partition counts or the log's id are not what they must be.
        case misconfigured
        /// The log ends before a record that was in it, or holds another one in its place: data was lost.
        case truncated
        /// A record that this reader must understand and does not (an unknown type, a key it does not hold).
        case unreadable
        /// The record can never be appended (too large, for example).
        case rejected
        /// The handle was closed, or broke and must be made anew.
        case closed

        /// Whether waiting helps whoever works for ever: what is away comes back, what broke is made anew, and a topic that one
        /// broker does not know is known to others, or soon to this one. Nothing of it may end a service.
        public var passes: Bool {
            switch self {
            case .unavailable, .closed, .notProvisioned: true
            case .misconfigured, .truncated, .unreadable, .rejected: false
            }
        }
    }

    public var code: Code
    /// What happened and where, for the operator.
    public var reason: String

    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Whether the same call may succeed later.
    public var isRetriable: Bool { code == .unavailable }

    /// See `Code.passes`.
    public var passes: Bool { code.passes }

    public var description: String { "\(code.rawValue): \(reason)" }
}
