internal import EventLog
internal import EventSchema
internal import Postgres

extension IdentityRebuild {
    /// What `verify` found in one table.
    public struct TableReport: Equatable, Sendable {
        public var table: String
        /// Rows that were compared.
        public var rows = 0
        /// Rows that only the rebuild has, that only the live table has, and that differ.
        public var missing = 0
        public var surplus = 0
        public var changed = 0
        /// Keys of the first of them, in hexadecimal digits.
        public var keys: [String] = []

        public var isEqual: Bool { missing + surplus + changed == 0 }
    }

    /// Rebuilds beside the live tables, up to exactly where they are, and compares. Changes nothing. Blocks.
    public func verify(progress: @escaping @Sendable (Progress) -> Void = { _ in }) throws -> [TableReport] {
        let guardian = try lock()
        defer { unlock(guardian) }
        return try source.withoutSkipped { skipped in try compare(without: skipped, over: guardian, progress) }
    }

    private func compare(
        without skipped: [SkippedEvent], over guardian: PostgresConnection, _ progress: @escaping @Sendable (Progress) -> Void
    ) throws -> [TableReport] {
        let shadow = ShadowSchema("\(schema)_verify", of: schema)
        try shadow.check(over: guardian)
        try shadow.create(for: "", over: guardian)
        defer { try? shadow.drop(over: guardian) }
        let store = ShadowStore(schema: shadow, keySchema: keySchema, destroysKeys: false)
        let load = ReplayLoad(source, store, database: database, threads: threads, rowLimit: rowLimit)
        try load.run(upTo: reachable(ShadowStore.positions(in: schema, over: guardian)), "replaying", progress)
        try load.makeIndexes(progress)

        // From here on the live tables stand still for us.
        let snapshot = try PostgresConnection(database)
        defer { snapshot.close() }
        return try snapshot.transaction(PostgresTransaction(isolation: .repeatableRead, isReadOnly: true)) { snapshot in
            let live = try ShadowStore.positions(in: schema, over: snapshot)
            try load.run(upTo: reachable(live), "catching up", progress)
            try source.check(skipped)
            var reports = [report(on: live, rebuilt: try store.checkpoints(over: guardian))]
            for table in ShadowSchema.tables.sorted() {
                progress(Progress(phase: "comparing \(table)", done: 0, total: nil))
                let report = try guardian.transaction { guardian in
                    try ProjectionComparison.compare(table, rebuilt: (shadow.name, guardian), live: (schema, snapshot))
                }
                reports.append(report)
            }
            return reports
        }
    }

    /// The offsets of these positions, as far as the log has them.
    private func reachable(_ positions: [Int: ChainPosition]) throws -> [Int: Int64] {
        let ends = try ends()
        return positions.reduce(into: [:]) { $0[$1.key] = min($1.value.offset, ends[$1.key] ?? 0) }
    }

    /// The checkpoints must name the events that the log has there.
    private func report(on live: [Int: ChainPosition], rebuilt: [Int: ChainPosition]) -> TableReport {
        let wrong = live.filter { $0.value.offset > 0 && rebuilt[$0.key]?.head != $0.value.head }.map(\.key).sorted()
        return TableReport(
            table: "checkpoints", rows: live.count, changed: wrong.count, keys: wrong.prefix(3).map { "partition \($0)" })
    }
}
