package import EventLog
package import EventSchema
package import Postgres

/// The statements that all projections have in common, for the tables `generation`, `checkpoints` and `outcomes` of a schema.
package struct ProjectionStatements: Sendable {
    let schema: String

    package init(schema: String) { self.schema = schema }

    package struct Step {
        var partition: Int
        /// `nil`: the partition was never projected.
        var from: ChainPosition?
        var to: Checkpoint?

        package init(partition: Int, from: ChainPosition?, to: Checkpoint?) {
            self.partition = partition
            self.from = from
            self.to = to
        }
    }

    package var generation: SQL { "SELECT number FROM \(unsafe: schema).generation" }

    package func checkpoints(of partitions: [Int]) -> SQL {
        """
        SELECT partition::int8, position, answers_from FROM \(unsafe: schema).checkpoints
        WHERE partition = ANY(\(partitions.map(Int32.init)))
        """
    }

    func outcomes(of commands: [CommandPlace]) -> SQL {
        """
        SELECT partition::int8, command, outcome, detail FROM \(unsafe: schema).outcomes
        WHERE (partition, command) IN (
            SELECT * FROM unnest(\(commands.map { Int32($0.partition) }), \(commands.map { PostgresUUID($0.command.bytes) })))
        """
    }

    /// Which of the results of `advance` holds the checkpoints as they stood before.
    package static let lockedCheckpoints = 1

    /// Locks generation and checkpoints, in an order that all instances share, and moves those checkpoints that stand where
    /// they should. A rebuild that swaps the tables waits for this transaction, or lets it wait and find another number.
    package func advance(_ steps: [Step], in generation: Int64) -> [SQL] {
        let partitions = steps.map { Int32($0.partition) }
        let batch: SQL = """
            unnest(\(partitions), \(steps.map { $0.from?.encoded }), \(steps.map { $0.to?.position.encoded ?? "" }),
                \(steps.map { $0.to?.answersFrom.encoded ?? "" })) AS batch(partition, from_position, to_position, answers_from)
            """
        let isLive: SQL = "EXISTS (SELECT FROM \(unsafe: schema).generation WHERE number = \(generation))"
        return [
            "SELECT number FROM \(unsafe: schema).generation FOR SHARE",
            """
            SELECT partition::int8, position, answers_from FROM \(unsafe: schema).checkpoints
            WHERE partition = ANY(\(partitions)) ORDER BY partition FOR UPDATE
            """,
            """
            INSERT INTO \(unsafe: schema).checkpoints (partition, position, answers_from, projected_by)
            SELECT partition, to_position, answers_from, pg_current_xact_id() FROM \(batch)
            WHERE from_position IS NULL AND \(isLive)
            ORDER BY partition
            ON CONFLICT DO NOTHING
            """,
            """
            UPDATE \(unsafe: schema).checkpoints AS stored
            SET position = to_position, answers_from = batch.answers_from, projected_by = pg_current_xact_id()
            FROM \(batch)
            WHERE stored.partition = batch.partition AND stored.position = from_position AND \(isLive)
            """,
        ]
    }

    /// The partitions whose checkpoints this transaction has moved.
    package var passed: SQL { "(SELECT partition FROM \(unsafe: schema).checkpoints WHERE projected_by = pg_current_xact_id())" }

    package func passedPartitions(of partitions: [Int]) -> SQL {
        """
        SELECT partition::int8 FROM \(unsafe: schema).checkpoints
        WHERE projected_by = pg_current_xact_id() AND partition = ANY(\(partitions.map(Int32.init)))
        """
    }

    /// What led to an event led to it for good; everything else may be learnt better.
    package func remember(_ outcomes: [StoredOutcome]) -> SQL {
        """
        INSERT INTO \(unsafe: schema).outcomes AS stored (partition, command, outcome, detail, until)
        SELECT * FROM unnest(\(outcomes.map { Int32($0.place.partition) }),
            \(outcomes.map { PostgresUUID($0.place.command.bytes) }), \(outcomes.map(\.name)), \(outcomes.map(\.detail)),
            \(outcomes.map { PostgresTimestamp($0.until) })) AS batch(partition, command, outcome, detail, until)
        WHERE partition IN \(passed)
        ON CONFLICT (partition, command) DO UPDATE
            SET outcome = excluded.outcome, detail = excluded.detail, until = excluded.until
            WHERE stored.outcome IN ('refused', 'expired')
        """
    }

    /// Commands are forgotten by the time of the events of their partition.
    package func forget(at times: [Int: Timestamp]) -> SQL {
        let partitions = times.keys.sorted()
        return """
            DELETE FROM \(unsafe: schema).outcomes AS outcome
            USING unnest(\(partitions.map(Int32.init)),
                \(partitions.map { PostgresTimestamp(milliseconds: times[$0]?.milliseconds ?? 0) })) AS batch(partition, time)
            WHERE outcome.partition = batch.partition AND outcome.until < batch.time AND batch.partition IN \(passed)
            """
    }
}
