internal import Crypto
internal import EventSchema
internal import Postgres

extension DataKeyStore {
    /// What one step has done.
    struct RewrappedBatch: Equatable {
        var seen = 0
        var anew = 0
        /// Keys that open under no secret that is known here.
        var locked: [DataKeyID] = []
        /// Where the next step begins; `nil` after the last one.
        var next: DataKeyID?
    }

    /// Wraps the next keys under the secret itself, those whose id comes after this one. A key that is destroyed meanwhile stays
    /// destroyed. Blocks.
    func rewrap(
        after last: DataKeyID?, limit: Int, over connection: PostgresConnection
    ) throws(PostgresError) -> RewrappedBatch {
        let rows = try connection.query(
            """
            SELECT id, wrapped FROM \(unsafe: schema).data_keys
            WHERE wrapped IS NOT NULL AND (\(last == nil) OR id > \(PostgresUUID(last?.bytes ?? [UInt8](repeating: 0, count: 16))))
            ORDER BY id LIMIT \(limit)
            """
        ).decode(PostgresUUID.self, [UInt8].self)
        var batch = RewrappedBatch(seen: rows.count)
        var changed: (ids: [PostgresUUID], before: [[UInt8]], after: [[UInt8]]) = ([], [], [])
        for (id, wrapped) in rows {
            guard let key = DataKeyID(bytes: id.bytes) else { continue }
            if rows.count == limit { batch.next = key }
            switch wrapping.rewrap(wrapped, context: Self.context(key)) {
            case .current: break
            case .locked: batch.locked.append(key)
            case .anew(let anew):
                changed.ids.append(id)
                changed.before.append(wrapped)
                changed.after.append(anew)
            }
        }
        if changed.ids.isEmpty { return batch }
        batch.anew = try connection.query(
            """
            UPDATE \(unsafe: schema).data_keys AS key SET wrapped = batch.after
            FROM unnest(\(changed.ids), \(changed.before), \(changed.after)) AS batch(id, before, after)
            WHERE key.id = batch.id AND key.wrapped = batch.before
            """
        ).affected
        return batch
    }

    /// How many keys are not destroyed.
    func count(over connection: PostgresConnection) throws(PostgresError) -> Int {
        try connection.query("SELECT count(*) FROM \(unsafe: schema).data_keys WHERE wrapped IS NOT NULL")
            .column(Int.self).first ?? 0
    }
}
