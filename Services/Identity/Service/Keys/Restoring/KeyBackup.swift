internal import Crypto
public import EventLog
internal import JSON
internal import LoopService
internal import Postgres
internal import Runtime
internal import Sealing

/// A backup of the keys that everything personal in the log is encrypted under, and of those that sign tokens and proofs of the
/// log: one JSON object a line, wrapped as they are kept. It is worth nothing without the secret that Identity had. Every call
/// blocks.
public struct KeyBackup: Sendable {
    public enum Failure: Error, CustomStringConvertible {
        case file(String)
        case otherLog

        public var description: String {
            switch self {
            case .file(let problem): problem
            case .otherLog: "the backup belongs to another log"
            }
        }
    }

    public struct Restored: Equatable, Sendable {
        /// Data keys in the backup.
        public var read = 0
        /// `nil`: they are held back until Identity has projected all that the log holds; then it takes them up itself.
        public var outcome: (restored: Int, destroyed: Int)?

        public static func == (left: Restored, right: Restored) -> Bool {
            left.read == right.read && left.outcome?.restored == right.outcome?.restored
                && left.outcome?.destroyed == right.outcome?.destroyed
        }
    }

    private static let format = "latchkey identity keys 1"
    private static let step = 1_000

    private static let patience: Duration = .seconds(30)

    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let database: PostgresConnection.Configuration

    public init(_ configuration: IdentityConfiguration, log: any EventLog) throws {
        self.init(
            log: log, authenticator: try RecordAuthenticator(configuration.common.macKeys),
            database: IdentityService.database(configuration.common))
    }

    init(log: any EventLog, authenticator: RecordAuthenticator, database: PostgresConnection.Configuration) {
        self.log = log
        self.authenticator = authenticator
        self.database = database
    }

    // MARK: Writing

    /// Writes all keys that are not destroyed, as of one moment. The file takes the place of one of this name, whole or not at all,
    /// and can be read by its owner alone.
    ///
    /// - Returns: how many data keys it holds.
    @discardableResult
    public func write(to path: String) throws -> Int {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        let file = try WholeFile(replacing: path, permissions: 0o600)
        let header: JSON = ["format": .string(Self.format), "log": .string(Base64URL.encode(try log.describe().id))]
        try file.write(line: header.serialized())
        var count = 0
        try connection.transaction(PostgresTransaction(isolation: .repeatableRead, isReadOnly: true)) { connection in
            let signing = try connection.query(
                "SELECT to_jsonb(key)::text FROM \(unsafe: IdentityKeys.schema).signing_keys AS key WHERE state <> 'revoked'")
            for row in try signing.column(String.self) { try file.write(line: Array(#"{"signing":\#(row)}"#.utf8)) }
            let audit = try connection.query("SELECT to_jsonb(key)::text FROM \(unsafe: IdentityKeys.schema).audit_key AS key")
            for row in try audit.column(String.self) { try file.write(line: Array(#"{"audit":\#(row)}"#.utf8)) }
            var last = PostgresUUID([UInt8](repeating: 0, count: 16))
            while true {
                let rows = try connection.query(
                    """
                    SELECT id, jsonb_build_object('id', id, 'wrapped', wrapped, 'created_at', created_at)::text
                    FROM \(unsafe: IdentityKeys.schema).data_keys
                    WHERE wrapped IS NOT NULL AND id > \(last) ORDER BY id LIMIT \(Self.step)
                    """
                ).decode(PostgresUUID.self, String.self)
                for (_, row) in rows { try file.write(line: Array(#"{"data":\#(row)}"#.utf8)) }
                count += rows.count
                guard let end = rows.last?.0 else { break }
                last = end
            }
        }
        try file.write(line: JSON.object(["end": .integer(Int64(count))]).serialized())
        try file.finish()
        return count
    }

    // MARK: Reading

    /// Reads a backup. Of its data keys those are used again that somebody's row names once everything is projected; none that was
    /// destroyed since, and none before. A signing key that is not known any more only checks tokens, unless there is none at all;
    /// one that the log says was retired or revoked since is so.
    public func restore(from path: String) throws -> Restored {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        let file = try LineFile(path)
        guard let header = try file.next().flatMap({ try? JSON.parse($0) }), header["format"]?.string == Self.format else {
            throw Failure.file("\(path) is no backup of Identity's keys")
        }
        guard header["log"]?.string == Base64URL.encode(try log.describe().id) else { throw Failure.otherLog }
        let directory = try KeyDirectory.read(from: log, by: authenticator, within: Self.patience)
        guard let retired = directory.retiredSigningKeys else {
            throw LogError(.unavailable, "the topic keys was not read to its end")
        }
        var read = 0
        try connection.transaction { connection in
            // An Identity that runs makes keys as soon as there are none.
            try SigningKeyTable.lock(over: connection)
            let isNew = try connection.query("SELECT FROM \(unsafe: IdentityKeys.schema).signing_keys").isEmpty
            var rows: [JSON] = []
            var isWhole = false
            while let line = try file.next() {
                guard line.count <= LineFile.longest else { throw Failure.file("\(path) is no backup of Identity's keys") }
                let json = try? JSON.parse(line)
                if let row = json?["data"] {
                    rows.append(row)
                    read += 1
                    if rows.count == Self.step { try hold(&rows, over: connection) }
                } else if let row = json?["signing"] {
                    try restoreSigningKey(row, isNew: isNew, over: connection)
                } else if let row = json?["audit"] {
                    try restoreAuditKey(row, over: connection)
                } else {
                    isWhole = json?["end"]?.int64 == Int64(read)
                }
            }
            try hold(&rows, over: connection)
            guard isWhole else { throw Failure.file("\(path) is not whole") }
            try SigningKeyTable.retire(Array(retired.values), over: connection)
        }
        let outcome = try RestoredKeys(log: log).takeUp(over: connection)
        return Restored(read: read, outcome: outcome.map { ($0.restored, $0.destroyed) })
    }

    private func hold(_ rows: inout [JSON], over connection: PostgresConnection) throws {
        try connection.execute(
            """
            INSERT INTO \(unsafe: RestoredKeys.schema).data_keys
            SELECT * FROM jsonb_populate_recordset(
                NULL::\(unsafe: RestoredKeys.schema).data_keys, \(PostgresJSON(JSON.array(rows).serialized())))
            ON CONFLICT (id) DO NOTHING
            """)
        rows.removeAll()
    }

    /// Proofs go on under it, unless there is another one already.
    private func restoreAuditKey(_ row: JSON, over connection: PostgresConnection) throws {
        let table = "\(IdentityKeys.schema).audit_key"
        try connection.execute(
            """
            INSERT INTO \(unsafe: table) SELECT * FROM jsonb_populate_record(
                NULL::\(unsafe: table), \(PostgresJSON(row.serialized())))
            ON CONFLICT DO NOTHING
            """)
    }

    private func restoreSigningKey(_ row: JSON, isNew: Bool, over connection: PostgresConnection) throws {
        let key: SQL = """
            FROM jsonb_populate_record(
                NULL::\(unsafe: IdentityKeys.schema).signing_keys, \(PostgresJSON(row.serialized()))) AS key
            ON CONFLICT DO NOTHING
            """
        let columns: SQL =
            isNew
            ? "state, wrapped_private, current_since, retired_at"
            : "'retired', NULL, coalesce(current_since, created_at), coalesce(retired_at, now())"
        try connection.execute(
            """
            INSERT INTO \(unsafe: IdentityKeys.schema).signing_keys
                (kid, algorithm, public_jwk, created_at, state, wrapped_private, current_since, retired_at)
            SELECT kid, algorithm, public_jwk, created_at, \(columns) \(key)
            """)
    }
}
