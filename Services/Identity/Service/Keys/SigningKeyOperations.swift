internal import Crypto
internal import EventSchema
internal import Postgres
internal import Projections
internal import Runtime

/// What operators do with signing keys. Every call blocks.
public struct SigningKeyOperations: Sendable {
    private let table: SigningKeyTable
    private let algorithm: SignatureAlgorithm
    private let database: PostgresConnection.Configuration

    public init(_ configuration: IdentityConfiguration) {
        table = SigningKeyTable(secret: configuration.secret, accepted: configuration.acceptedSecrets)
        algorithm = configuration.tokenAlgorithm
        database = IdentityService.database(configuration.common)
    }

    private static let titles = ["KID", "ALGORITHM", "STATE", "CREATED", "SIGNS SINCE", "RETIRED"]

    /// A table for a terminal, newest first.
    public func list() throws -> String {
        let rows = try run { connection in try table.rows(over: connection) }
        return TextTable.text(
            Self.titles,
            rows.map { row in
                [row.kid, row.algorithm, row.state]
                    + [row.createdAt, row.currentSince, row.retiredAt].map { $0.map { Timestamp($0).rfc3339 } ?? "" }
            })
    }

    /// Has the next key sign from now on. Returns its name.
    public func rotate() throws -> String {
        try run { connection in
            try table.prepare(algorithm, over: connection)
            return try table.rotate(algorithm, over: connection) ?? ""
        }
    }

    /// Has no token of this key count any more.
    ///
    /// - Returns: what is wrong with the name; `nil` when it is done.
    public func retire(_ kid: String) throws -> String? {
        do {
            try run { connection in try table.revoke(kid: kid, algorithm, over: connection) }
            return nil
        } catch SigningKeyTable.Failure.noSuchKey {
            return "there is no key of this name that still counts"
        }
    }

    private func run<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        return try body(connection)
    }
}
