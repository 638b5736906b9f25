internal import EventSchema
public import Postgres
internal import Projections
internal import Runtime

/// Sends that failed for good or whose outcome cannot be known: what an operator looks at.
public struct StoppedSends: Sendable {
    private let database: PostgresConnection.Configuration

    public init(database: PostgresConnection.Configuration) { self.database = database }

    struct Row: Equatable, Sendable {
        var id: MessageID
        var partition: Int
        var subject: Subject
        var status: String
        var reason: String?
        var purpose: String
        var channel: String
        var provider: String
        var attempts: Int
        var requestedAt: Timestamp
        var expiresAt: Timestamp

        /// Nothing of whom it goes to: that can be read by nobody but the Notifier, on its way to a provider.
        fileprivate var cells: [String] {
            [
                id.text, status, reason ?? "", purpose, channel, provider, String(attempts), requestedAt.rfc3339,
                expiresAt.rfc3339,
            ]
        }
    }

    private static let titles = ["ID", "STATUS", "REASON", "PURPOSE", "CHANNEL", "PROVIDER", "ATTEMPTS", "REQUESTED", "EXPIRES"]

    /// A table for a terminal, newest last. Blocks.
    public func table() throws -> String {
        TextTable.text(Self.titles, try rows().map(\.cells))
    }

    func rows(of id: MessageID? = nil) throws -> [Row] {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        let wanted = id.map { PostgresUUID($0.bytes) }
        return try connection.query(
            """
            SELECT id, partition::int8, subject, status, reason, purpose, channel, provider, attempt::int8, requested_at, expires_at
            FROM notifier.sends
            WHERE status IN ('failed', 'unknown') AND (\(wanted) IS NULL OR id = \(wanted))
            ORDER BY attempted_at, id
            """
        ).map { row in
            guard let id = MessageID(bytes: try row.decode(0, as: PostgresUUID.self).bytes),
                let subject = Subject(bytes: try row.decode(2, as: [UInt8].self))
            else { throw PostgresError(.mismatch, "a row of sends cannot be read") }
            return Row(
                id: id, partition: try row.decode(1), subject: subject, status: try row.decode(3), reason: try row.decode(4),
                purpose: try row.decode(5), channel: try row.decode(6), provider: try row.decode(7), attempts: try row.decode(8),
                requestedAt: Timestamp(try row.decode(9, as: PostgresTimestamp.self)),
                expiresAt: Timestamp(try row.decode(10, as: PostgresTimestamp.self)))
        }
    }
}
