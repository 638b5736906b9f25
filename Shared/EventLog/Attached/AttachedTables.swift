internal import EventLog
internal import EventSchema
internal import Postgres

/// The schema of an attached projection, live or being rebuilt. Everything in it is named without it: the statements find it by
/// the search path of their transaction, so that a whole schema can take the place of another one.
struct AttachedTables<Projection: AttachedProjection> {
    enum Outcome {
        case taken
        /// Somebody else has gone on, or the tables are other ones now.
        case conflict
    }

    let projection: Projection
    let schema: String
    let log: any EventLog
    let authenticator: RecordAuthenticator

    /// Makes the tables, or brings them up to date. Blocks, like everything here.
    func prepare(over connection: PostgresConnection) throws {
        let common = (name: "0001_attached.sql", contents: PackageResources._001_attached_sql)
        let migrations = try Migrations(schema: schema, files: [common] + projection.files)
        try transaction(over: connection) { connection in try migrations.apply(over: connection) }
    }

    /// Where reading goes on.
    func positions(over connection: PostgresConnection) throws(PostgresError) -> [TopicPartition: ChainPosition] {
        let rows = try connection.query("SELECT topic, partition, position FROM \(unsafe: schema).checkpoints")
            .decode(String.self, Int.self, String.self)
        var positions: [TopicPartition: ChainPosition] = [:]
        for (name, partition, text) in rows {
            guard let topic = Topic(rawValue: name), let position = ChainPosition(encoded: text) else { continue }
            positions[TopicPartition(topic, partition)] = position
        }
        return positions
    }

    /// Takes events in, together with the positions behind them: all or nothing, and only where the positions before are those
    /// that these events follow.
    func take(
        _ batches: [ChainScan.Batch], after positions: [TopicPartition: ChainPosition], over connection: PostgresConnection
    ) throws -> Outcome {
        do {
            try transaction(over: connection) { connection in
                for batch in batches {
                    guard try advance(batch, after: positions[batch.partition], over: connection) else {
                        throw CheckpointConflict()
                    }
                    let events = batch.events.filter { !$0.saysNothing }
                    let statements = try statements(for: events, behind: positions[batch.partition])
                    if !statements.isEmpty { try connection.batch(statements) }
                }
            }
            return .taken
        } catch is CheckpointConflict {
            return .conflict
        } catch let error as UnreadableBody {
            throw LogError(.unreadable, "\(schema) cannot take an event in: \(error.type), \(error.reason)")
        }
    }

    /// What can be read, and is not left out by an operator's decision.
    private func statements(for events: [EventEnvelope], behind position: ChainPosition?) throws -> [SQL] {
        if events.isEmpty { return [] }
        do throws(UnreadableBody) {
            return try projection.statements(for: events)
        } catch {
            guard events.count > 1 else {
                guard let event = events.first,
                    try SkippedEvents.contains(
                        event.offset, of: event.partition, behind: position, in: log, authenticator: authenticator)
                else { throw error }
                return []
            }
            return try events.flatMap { try statements(for: [$0], behind: position) }
        }
    }

    private func advance(
        _ batch: ChainScan.Batch, after position: ChainPosition?, over connection: PostgresConnection
    ) throws(PostgresError) -> Bool {
        let (topic, partition) = (batch.partition.topic.rawValue, Int32(batch.partition.partition))
        guard let position else {
            return try connection.execute(
                """
                INSERT INTO checkpoints (topic, partition, position) VALUES (\(topic), \(partition), \(batch.position.encoded))
                ON CONFLICT DO NOTHING
                """) == 1
        }
        return try connection.execute(
            """
            UPDATE checkpoints SET position = \(batch.position.encoded)
            WHERE topic = \(topic) AND partition = \(partition) AND position = \(position.encoded)
            """) == 1
    }

    /// One transaction in which names without a schema are those of this one.
    @discardableResult
    func transaction<Value>(
        over connection: PostgresConnection, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        try connection.transaction { connection in
            try connection.query("SELECT set_config('search_path', \(schema), true)")
            return try body(connection)
        }
    }
}

/// The stored checkpoint is not the one that events follow.
private struct CheckpointConflict: Error {}
