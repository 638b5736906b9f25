public import EventLog
internal import EventSchema
public import Postgres
internal import Synchronization

/// A projection in Postgres: the tables of a service, a checkpoint per partition, and the outcomes of recent commands.
///
/// Reading a batch and writing one are a round trip each. Each write compares the checkpoint, so an instance that was paused
/// writes nothing, and the number of the generation, so that nothing is written to tables that a rebuild has replaced.
///
/// Writes commit asynchronously: the log has all that is in them, and tables and checkpoints go back together if the server
/// crashes. A crash ends every connection, so after each new one it is first looked whether they did.
public final class PostgresProjectionStore<Tables: ProjectionTables>: ProjectionStore {
    public typealias Domain = Tables.Domain

    private struct State {
        let session: PostgresSession
        /// The generation whose checkpoints were handed out.
        var generation: Int64?
        /// Where the projection is known to stand, and the connection, by number, over which that was seen or written.
        var projected: [Int: ChainPosition] = [:]
        var connects = 0
        var sweeps = Sweeps()
    }

    public let tables: Tables
    // The lock is held while a statement runs: the loop's thread is the only one that comes here.
    private let state: Mutex<State>
    private let statements: ProjectionStatements

    public init(_ tables: Tables, connection: PostgresConnection.Configuration) {
        self.tables = tables
        statements = ProjectionStatements(schema: tables.schema)
        var connection = connection.goingByKeys
        connection.settings["synchronous_commit"] = "off"
        state = Mutex(State(session: PostgresSession(connection)))
    }

    public func checkpoints(of partitions: [Int]) throws(LogError) -> [Int: Checkpoint] {
        try run { state throws(PostgresError) in
            let rows = try state.session.connection().batch([statements.generation, statements.checkpoints(of: partitions)])
            state.generation = try rows[0].column(Int64.self).first
            let checkpoints = try Self.checkpoints(in: rows[1])
            for partition in partitions { state.projected[partition] = checkpoints[partition]?.position }
            state.sweeps.forget(partitions)
            return checkpoints
        }
    }

    /// Whether the server has lost what was written last.
    private func wasSetBack(_ state: inout State) throws(PostgresError) -> Bool {
        let connection = try state.session.connection()
        guard state.connects != state.session.connects else { return false }
        let stored = try Self.checkpoints(in: connection.query(statements.checkpoints(of: state.projected.keys.sorted())))
        for (partition, known) in state.projected {
            guard let position = stored[partition]?.position, position.head.sequence >= known.head.sequence else {
                state.projected = [:]
                state.sweeps = Sweeps()
                return true
            }
        }
        state.connects = state.session.connects
        return false
    }

    public func load(
        _ requests: [Int: LoadRequest<Domain.Key>]
    ) throws(LogError) -> [Int: LoadedBatch<Domain.Key, Domain.Aggregate>] {
        // No key paths: in generic code each use makes them anew, which takes longer than all the rest.
        let keys = requests.values.flatMap { $0.keys }
        let commands = requests.flatMap { partition, request in
            request.commands.map { CommandPlace(partition: partition, command: $0) }
        }
        let loaded: [Int: LoadedBatch<Domain.Key, Domain.Aggregate>]? = try run { state throws(PostgresError) in
            if try wasSetBack(&state) { return nil }
            // Outcomes are read after the rows: whatever command the rows reflect has its outcome there.
            let rows = try state.session.connection().batch(
                [tables.reading(keys)] + (commands.isEmpty ? [] : [statements.outcomes(of: commands)]))
            let aggregates = try tables.aggregates(in: rows[0])
            let known = rows.count > 1 ? try Self.outcomes(in: rows[1]) : [:]
            var batches: [Int: LoadedBatch<Domain.Key, Domain.Aggregate>] = [:]
            for (partition, request) in requests {
                var batch = LoadedBatch<Domain.Key, Domain.Aggregate>(aggregates: [:])
                for key in request.keys { batch.aggregates[key] = aggregates[key] }
                for command in request.commands {
                    batch.known[command] = known[CommandPlace(partition: partition, command: command)]
                }
                batches[partition] = batch
            }
            return batches
        }
        // Whatever would be decided on these rows would be decided on an outdated state.
        guard let loaded else { throw LogError(.closed, "the projection was set back, and everything is read again") }
        return loaded
    }

    public func project(_ batches: [Int: ProjectionBatch<Domain.Event>]) throws(LogError) -> [Int: ProjectionOutcome] {
        let partitions = batches.keys.sorted()
        let events = partitions.flatMap { batches[$0]?.events ?? [] }
        let steps = partitions.map { partition in
            let batch = batches[partition]
            return ProjectionStatements.Step(partition: partition, from: batch?.from, to: batch?.to)
        }
        var times: [Int: Timestamp] = [:]
        for event in events { times[event.envelope.partition.partition] = event.envelope.time }
        return try run { state throws(PostgresError) in
            let due = state.sweeps.due(by: times)
            var changes = statements.advance(steps, in: state.generation ?? 0)
            changes += tables.writing(events, where: statements.passed)
            changes.append(
                statements.remember(StoredOutcome.told(by: events.map { ($0.event, $0.envelope) }, of: tables.domain)))
            if !due.isEmpty { changes += tables.housekeeping(at: due, where: statements.passed) + [statements.forget(at: due)] }
            let rows = try state.session.connection().batch(
                changes + [statements.generation, statements.passedPartitions(of: partitions)])
            state.generation = try rows[rows.count - 2].column(Int64.self).first
            let passed = Set(try rows[rows.count - 1].column(Int.self))
            state.sweeps.note(due)
            state.sweeps.forget(partitions.filter { !passed.contains($0) })
            // The checkpoints as they stood before, under the lock that held them.
            let stored = try Self.checkpoints(in: rows[ProjectionStatements.lockedCheckpoints])
            for partition in partitions {
                let position = passed.contains(partition) ? batches[partition]?.to.position : stored[partition]?.position
                state.projected[partition] = position
            }
            return Dictionary(
                uniqueKeysWithValues: partitions.map { ($0, passed.contains($0) ? .projected : .conflict(stored[$0])) })
        }
    }

    private static func checkpoints(in rows: PostgresRows) throws(PostgresError) -> [Int: Checkpoint] {
        var checkpoints: [Int: Checkpoint] = [:]
        for (partition, position, answersFrom) in try rows.decode(Int.self, String.self, String.self) {
            guard let position = ChainPosition(encoded: position), let answersFrom = ChainPosition(encoded: answersFrom) else {
                throw PostgresError(.mismatch, "the checkpoint of partition \(partition) cannot be read")
            }
            checkpoints[partition] = Checkpoint(position: position, answersFrom: answersFrom)
        }
        return checkpoints
    }

    private static func outcomes(in rows: PostgresRows) throws(PostgresError) -> [CommandPlace: CommandOutcome] {
        var outcomes: [CommandPlace: CommandOutcome] = [:]
        for (partition, command, name, detail) in try rows.decode(Int.self, PostgresUUID.self, String.self, [UInt8]?.self) {
            guard let command = MessageID(bytes: command.bytes), let outcome = StoredOutcome.outcome(named: name, detail) else {
                throw PostgresError(.mismatch, "an outcome of partition \(partition) cannot be read")
            }
            outcomes[CommandPlace(partition: partition, command: command)] = outcome
        }
        return outcomes
    }

    private func run<Value>(_ body: (inout State) throws(PostgresError) -> sending Value) throws(LogError) -> Value {
        do throws(PostgresError) {
            return try state.withLock { state throws(PostgresError) in try body(&state) }
        } catch {
            throw LogError(error.isRetriable || error.isOutage ? .unavailable : .misconfigured, error.description)
        }
    }
}
