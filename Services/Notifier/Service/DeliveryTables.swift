internal import Crypto
public import EventLog
public import EventSchema
public import NotifierDomain
public import Postgres
public import Projections

/// The Notifier's projection: its open sends, the table of `Migrations`.
public struct DeliveryTables: ProjectionTables {
    public let domain: DeliveryPartition
    public let schema: String

    public init(domain: DeliveryPartition, schema: String = "notifier") {
        self.domain = domain
        self.schema = schema
    }

    // MARK: Reading

    private static let columns: SQL = """
        id, subject, attempt, provider, purpose, channel, requested_at, expires_at, recipient, code, locale, status, retry_at,
        partition, attempted_by
        """

    public func reading(_ keys: [MessageID]) -> SQL {
        "SELECT \(Self.columns) FROM \(unsafe: schema).sends WHERE id = ANY(\(keys.map { PostgresUUID($0.bytes) }))"
    }

    public func aggregates(in rows: PostgresRows) throws(PostgresError) -> [MessageID: Delivery.State] {
        var sends: [MessageID: Delivery.State] = [:]
        for send in try Self.sends(in: rows) { sends[send.id] = send.state }
        return sends
    }

    /// Sends of these partitions whose attempt has no outcome, or that wait for another one.
    func readingOpen(in partitions: [Int]) -> SQL {
        """
        SELECT \(Self.columns) FROM \(unsafe: schema).sends
        WHERE partition = ANY(\(partitions.map { Int32($0) })) AND status IN ('attempting', 'waiting')
        ORDER BY attempted_at
        """
    }

    /// A row of the table.
    struct OpenSend: Equatable, Sendable {
        var id: MessageID
        var partition: Int
        var state: Delivery.State
        /// The process that wrote the last attempt, and alone may make it for the first time.
        var writer: String
    }

    static func sends(in rows: PostgresRows) throws(PostgresError) -> [OpenSend] {
        var sends: [OpenSend] = []
        for row in rows {
            guard let attempt = try attempt(in: row) else { throw PostgresError(.mismatch, "a row of sends cannot be read") }
            let state: Delivery.State
            switch try row.decode(11, as: String.self) {
            case "attempting": state = .attempting(attempt)
            case "waiting":
                let retryAt = try row.decode(12, as: PostgresTimestamp.self)
                state = .waiting(attempt, retryAt: Timestamp(retryAt))
            case "failed": state = .failed(attempt)
            case "unknown": state = .unknown(attempt)
            default: throw PostgresError(.mismatch, "a send has a status that this version does not know")
            }
            sends.append(
                OpenSend(
                    id: attempt.send, partition: try row.decode(13, as: Int.self), state: state,
                    writer: try row.decode(14, as: String.self)))
        }
        return sends
    }

    /// `nil` where a value is none that an event can have brought.
    private static func attempt(in row: PostgresRow) throws(PostgresError) -> DeliveryAttempted? {
        guard let id = MessageID(bytes: try row.decode(0, as: PostgresUUID.self).bytes),
            let subject = Subject(bytes: try row.decode(1, as: [UInt8].self)),
            let purpose = Occasion(rawValue: try row.decode(4, as: String.self)),
            let channel = Channel(rawValue: try row.decode(5, as: String.self))
        else { return nil }
        return DeliveryAttempted(
            send: id, subject: subject, attempt: try row.decode(2, as: Int.self), provider: try row.decode(3, as: String.self),
            purpose: purpose, channel: channel,
            requestedAt: Timestamp(try row.decode(6, as: PostgresTimestamp.self)),
            expiresAt: Timestamp(try row.decode(7, as: PostgresTimestamp.self)),
            recipient: try row.decode(8, as: String?.self).flatMap { Box(encoded: $0) },
            code: try row.decode(9, as: String?.self).flatMap { Box(encoded: $0) },
            locale: try row.decode(10, as: String?.self).flatMap { LanguageTag($0) })
    }

    // MARK: Writing

    public func writing(_ events: [ConfirmedEvent<DeliveryEvent>], where passed: SQL) -> [SQL] {
        let changes = SendChanges(events)
        var statements: [SQL] = []
        if !changes.put.isEmpty { statements.append(put(changes.put, passed)) }
        if !changes.changed.isEmpty { statements.append(change(changes.changed, passed)) }
        if !changes.ended.isEmpty { statements.append(remove(changes.ended, passed)) }
        return statements
    }

    private func put(_ rows: [SendChanges.Row], _ passed: SQL) -> SQL {
        let attempts = rows.map(\.attempt)
        return """
            INSERT INTO \(unsafe: schema).sends (id, partition, subject, purpose, channel, locale, requested_at, expires_at,
                recipient, code, attempt, provider, attempted_at, attempted_by, status, reason, retry_at)
            SELECT * FROM unnest(\(attempts.map { PostgresUUID($0.send.bytes) }), \(rows.map { Int32($0.partition) }),
                \(attempts.map(\.subject.bytes)), \(attempts.map(\.purpose.rawValue)), \(attempts.map(\.channel.rawValue)),
                \(attempts.map { $0.locale?.text }), \(attempts.map { PostgresTimestamp($0.requestedAt) }),
                \(attempts.map { PostgresTimestamp($0.expiresAt) }), \(attempts.map { $0.recipient?.encoded }),
                \(attempts.map { $0.code?.encoded }), \(attempts.map { Int32($0.attempt) }), \(attempts.map(\.provider)),
                \(rows.map { PostgresTimestamp($0.attemptedAt) }), \(rows.map(\.writer)), \(rows.map(\.status.name)), \(rows.map(\.status.reason)),
                \(rows.map { $0.status.retryAt.map { PostgresTimestamp($0) } })) AS batch(id, partition, subject, purpose, channel,
                locale, requested_at, expires_at, recipient, code, attempt, provider, attempted_at, attempted_by, status, reason,
                retry_at)
            WHERE partition IN \(passed)
            ON CONFLICT (id) DO UPDATE SET attempt = excluded.attempt, provider = excluded.provider,
                attempted_at = excluded.attempted_at, attempted_by = excluded.attempted_by, status = excluded.status, reason = excluded.reason, retry_at = excluded.retry_at
            """
    }

    private func change(_ changes: [SendChanges.Change], _ passed: SQL) -> SQL {
        """
        UPDATE \(unsafe: schema).sends AS send SET status = batch.status, reason = batch.reason, retry_at = batch.retry_at
        FROM unnest(\(changes.map { PostgresUUID($0.send.bytes) }), \(changes.map(\.status.name)), \(changes.map(\.status.reason)),
            \(changes.map { $0.status.retryAt.map { PostgresTimestamp($0) } })) AS batch(id, status, reason, retry_at)
        WHERE send.id = batch.id AND send.partition IN \(passed)
        """
    }

    private func remove(_ sends: [MessageID], _ passed: SQL) -> SQL {
        """
        DELETE FROM \(unsafe: schema).sends WHERE id = ANY(\(sends.map { PostgresUUID($0.bytes) })) AND partition IN \(passed)
        """
    }
}
