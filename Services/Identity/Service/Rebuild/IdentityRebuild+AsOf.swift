internal import EventLog
public import EventSchema
internal import Postgres

extension IdentityRebuild {
    /// An instant as RFC 3339 writes it. `nil` for other texts.
    public static func instant(_ text: String) -> Timestamp? { ImportLine.time(in: text) }

    /// The projection as it was when the log's clock showed this time, in a schema of its own: for an investigation. Whoever was
    /// erased, even later, appears nowhere in it. Blocks.
    ///
    /// - Returns: the schema's name.
    public func asOf(_ time: Timestamp, progress: @escaping @Sendable (Progress) -> Void = { _ in }) throws -> String {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        let name = "\(schema)_as_of_" + time.rfc3339.lowercased().prefix(19).filter { $0 != "-" && $0 != ":" }
        let shadow = ShadowSchema(name, of: schema)
        guard try !shadow.exists(over: connection) else {
            throw RebuildError("there is a schema \(name) already; DROP SCHEMA \(name) CASCADE drops it")
        }
        try shadow.check(over: connection)
        return try source.withoutSkipped { skipped in
            try fold(upTo: time, without: skipped, into: shadow, over: connection, progress)
        }
    }

    private func fold(
        upTo time: Timestamp, without skipped: [SkippedEvent], into shadow: ShadowSchema, over connection: PostgresConnection,
        _ progress: @escaping @Sendable (Progress) -> Void
    ) throws -> String {
        try shadow.create(for: "as of \(time.rfc3339)", over: connection)
        do {
            let store = ShadowStore(schema: shadow, keySchema: keySchema, destroysKeys: false)
            let load = ReplayLoad(
                source, store, database: database, threads: threads, rowLimit: rowLimit, asOf: time)
            // All of it: what comes later may erase.
            try load.run(upTo: ends(), "replaying", progress)
            try source.check(skipped)
            try load.makeIndexes(progress)
        } catch {
            try? shadow.drop(over: connection)
            throw error
        }
        return shadow.name
    }
}
