internal import EventLog
internal import EventSchema
internal import IdentityDomain
internal import Postgres
internal import Projections

/// Reads and writes the rows of a shadow schema: whole homes at once.
struct ShadowStore: Sendable {
    let schema: ShadowSchema
    let keySchema: String
    /// Whether keys that the events say are destroyed are destroyed where they exist: a backup of them may have been restored.
    let destroysKeys: Bool
    var beforeWriting: @Sendable () throws -> Void = {}

    /// How far each partition is written.
    func checkpoints(over connection: PostgresConnection) throws(PostgresError) -> [Int: ChainPosition] {
        try Self.positions(in: schema.name, over: connection)
    }

    static func positions(
        in schema: String, _ lock: String = "", over connection: PostgresConnection
    ) throws(PostgresError) -> [Int: ChainPosition] {
        let rows = try connection.query(
            "SELECT partition::int8, position FROM \(unsafe: schema).checkpoints ORDER BY partition \(unsafe: lock)"
        ).decode(Int.self, String.self)
        var positions: [Int: ChainPosition] = [:]
        for (partition, text) in rows {
            guard let position = ChainPosition(encoded: text) else {
                throw PostgresError(.mismatch, "the checkpoint of partition \(partition) in \(schema) cannot be read")
            }
            positions[partition] = position
        }
        return positions
    }

    // MARK: Reading homes

    /// The rows of these homes that a change may still touch, in one round trip.
    func load(_ homes: [RoutingKey], over connection: PostgresConnection) throws(PostgresError) -> [RoutingKey: HomeRecords] {
        if homes.isEmpty { return [:] }
        let keys = homes.map(\.bytes)
        let results = try connection.batch(
            ShadowSchema.homes.map { row in
                """
                SELECT home, \(unsafe: row.columns.joined(separator: ", ")) FROM \(unsafe: schema.name).\(unsafe: row.table)
                WHERE home = ANY (\(keys)) AND \(unsafe: Self.condition(of: row.table))
                """
            })
        var loaded: [RoutingKey: HomeRecords] = [:]
        for home in homes { loaded[home, default: HomeRecords()].isStored = true }
        for (row, rows) in zip(ShadowSchema.homes, results) { try Self.add(rows, as: row, to: &loaded) }
        return loaded
    }

    /// Rows that are over are never changed again; the indexes by home leave them out.
    private static func condition(of table: String) -> String {
        switch table {
        case HomeRecords.User.table: "erased_at IS NULL"
        case HomeRecords.Onboarding.table: "status IN ('active', 'completed')"
        default: "true"
        }
    }

    private static func add<Row: HomeRow>(
        _ rows: PostgresRows, as _: Row.Type, to loaded: inout [RoutingKey: HomeRecords]
    ) throws(PostgresError) {
        for row in rows {
            var cells = RowCells(row)
            let home = try cells.home()
            try Row(&cells).insert(into: &loaded[home, default: HomeRecords()])
        }
    }

    // MARK: Writing them

    /// Writes what was folded, with the checkpoint, in one transaction.
    ///
    /// - Parameter isIndexed: whether rows of former times can be found, to be swept of what is over.
    /// - Returns: how many data keys were destroyed.
    func write(
        _ records: PartitionRecords, from: ChainPosition?, to: ChainPosition, isIndexed: Bool,
        over connection: PostgresConnection
    ) throws -> Int {
        let partition = records.partition
        let statements = schema.statements
        try beforeWriting()
        return try connection.transaction { connection in
            var before = statements.advance(
                [.init(partition: partition, from: from, to: Checkpoint(position: to, answersFrom: to))], in: 1)
            before.append(statements.passedPartitions(of: [partition]))
            guard try connection.batch(before).last?.count == 1 else {
                throw RebuildError("somebody else is writing to \(schema.name)")
            }
            let destroyed = try connection.batch(changes(records, isIndexed: isIndexed))[0].affected
            try copy(records, over: connection)
            var ended = CopyRows(columns: EndedSession.columns.count)
            for session in records.effects.ended {
                ended.begin()
                ended.append(Int32(partition))
                session.write(to: &ended)
            }
            try connection.copy(ended, into: "\(schema.name).\(EndedSession.table)", columns: EndedSession.columns)
            return destroyed
        }
    }

    private func changes(_ records: PartitionRecords, isIndexed: Bool) -> [SQL] {
        let destroyed = destroysKeys ? records.effects.destroyed.map { ($0.key, $0.value) } : []
        var changes: [SQL] = [
            """
            UPDATE \(unsafe: keySchema).data_keys AS key SET wrapped = NULL, destroyed_at = now(), reason = batch.reason
            FROM unnest(\(destroyed.map { PostgresUUID($0.0.bytes) }), \(destroyed.map(\.1.rawValue))) AS batch(id, reason)
            WHERE key.id = batch.id AND key.wrapped IS NOT NULL
            """
        ]
        let stored = records.homes.filter(\.value.isStored).map(\.key.bytes)
        if !stored.isEmpty {
            for row in ShadowSchema.homes {
                changes.append(
                    """
                    DELETE FROM \(unsafe: schema.name).\(unsafe: row.table)
                    WHERE home = ANY (\(stored)) AND \(unsafe: Self.condition(of: row.table))
                    """)
            }
        }
        if !records.erasedLater.isEmpty {
            changes.append(
                """
                DELETE FROM \(unsafe: schema.name).\(unsafe: EndedSession.table)
                WHERE user_id = ANY (\(records.erasedLater.map { PostgresUUID($0.bytes) }))
                """)
        }
        let outcomes = records.outcomes
        if !outcomes.isEmpty { changes.append(schema.statements.remember(outcomes)) }
        if let time = records.sweepTime {
            changes.append(schema.statements.forget(at: [records.partition: time]))
            if isIndexed {
                let writer = HomeWriter(schema: schema.name, keySchema: keySchema, passed: schema.statements.passed)
                changes += writer.housekeeping(at: [records.partition: time])
            }
        }
        return changes
    }

    /// Copies the rows of all homes, which are gone through once: what comes together of a table is copied as soon as it is
    /// worth it.
    private func copy(_ records: PartitionRecords, over connection: PostgresConnection) throws(PostgresError) {
        var gathered = ShadowSchema.homes.map { CopyRows(columns: $0.allColumns.count) }
        func flush(_ table: Int) throws(PostgresError) {
            let row = ShadowSchema.homes[table]
            try connection.copy(gathered[table], into: "\(schema.name).\(row.table)", columns: row.allColumns)
            gathered[table] = CopyRows(columns: row.allColumns.count)
        }
        for (home, rows) in records.homes {
            for (table, row) in ShadowSchema.homes.enumerated() {
                Self.gather(rows, as: row, of: home, in: records.partition, to: &gathered[table])
                if gathered[table].size > Self.copied { try flush(table) }
            }
        }
        for table in gathered.indices { try flush(table) }
    }

    /// So much is copied at once, in bytes.
    private static let copied = 2 << 20

    private static func gather<Row: HomeRow>(
        _ records: HomeRecords, as _: Row.Type, of home: RoutingKey, in partition: Int, to rows: inout CopyRows
    ) {
        Row.each(in: records) { row in
            rows.begin()
            rows.append(raw: home.bytes)
            rows.append(Int32(partition))
            row.write(to: &rows)
        }
    }
}
