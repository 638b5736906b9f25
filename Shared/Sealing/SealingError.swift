public import EventLog
public import Postgres

/// Why a service's own sealing keys cannot be made, loaded or published. The description holds no key material.
public enum SealingError: Error, Hashable, Sendable, CustomStringConvertible {
    case database(PostgresError)
    case log(LogError)
    /// The row of this key was written under another secret of the service, or was changed.
    case locked(schema: String, key: String)

    /// Whether the same may succeed later.
    public var isRetriable: Bool {
        switch self {
        case .database(let error): error.isRetriable
        case .log(let error): error.isRetriable
        case .locked: false
        }
    }

    public var description: String {
        switch self {
        case .database(let error): error.description
        case .log(let error): error.description
        case .locked(let schema, let key):
            """
            the sealing key \(key) in schema \(schema) cannot be opened with this service's secret: give it the secret that it \
            had, or delete the rows of \(schema).sealing_keys, and with them everything that is still sealed to them
            """
        }
    }
}
