internal import Crypto
public import EventLog
internal import EventSchema
internal import LoopService
internal import Postgres
internal import Projections
internal import Runtime
internal import Sealing

/// What operators do with signing keys. Every call blocks.
public struct SigningKeyOperations: Sendable {
    private let table: SigningKeyTable
    private let algorithm: SignatureAlgorithm
    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let database: PostgresConnection.Configuration
    private let patience: Duration

    public init(_ configuration: IdentityConfiguration, log: any EventLog) throws {
        self.init(
            SigningKeyTable(secret: configuration.secret, accepted: configuration.acceptedSecrets),
            configuration.tokenAlgorithm, log: log, authenticator: try RecordAuthenticator(configuration.common.macKeys),
            database: IdentityService.database(configuration.common))
    }

    /// - Parameter patience: how long the log is waited for.
    init(
        _ table: SigningKeyTable, _ algorithm: SignatureAlgorithm, log: any EventLog, authenticator: RecordAuthenticator,
        database: PostgresConnection.Configuration, patience: Duration = .seconds(15)
    ) {
        self.table = table
        self.algorithm = algorithm
        self.log = log
        self.authenticator = authenticator
        self.database = database
        self.patience = patience
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

    /// Has no token of this key count any more, now and whatever is restored later. May be repeated.
    ///
    /// - Returns: what is wrong; `nil` when it is done, and stands in the log.
    public func retire(_ kid: String) throws -> String? {
        let retired = try run { connection in
            // One that was taken away already may not stand in the log.
            do { try table.revoke(kid: kid, algorithm, over: connection) } catch SigningKeyTable.Failure.noSuchKey {}
            return try table.rows(over: connection).first { $0.kid == kid }?.retirement
        }
        guard let retired else { return "there is no key of this name" }
        do throws(LogError) {
            let handles = try OperatorHandles(log: log, authenticator: authenticator, patience: patience)
            defer { handles.close() }
            try handles.producer.append(KeyRecord.telling(retired, by: authenticator), within: patience)
            return nil
        } catch {
            return "no token of \(kid) counts any more, but the log was not told, so that a backup could bring it back: \(error)"
        }
    }

    private func run<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        return try body(connection)
    }
}
