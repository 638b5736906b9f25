public import EventLog
public import EventSchema
public import Postgres

/// A projection of one's own: what it reads, where it keeps it, and what an event does to that.
///
/// Everything else comes with `AttachedRunner` (chains that are checked, a checkpoint in the same transaction, several
/// instances at once, metrics) and `AttachedRebuild`.
public protocol AttachedProjection: Sendable {
    /// Names its schema in Postgres, and itself in metrics: lower-case letters, digits and underscores.
    var name: String { get }

    /// Whose events it reads.
    var topics: [Topic] { get }

    /// Its tables: numbered SQL files from `0002_…` on, applied once each. Names stand without a schema.
    var files: [(name: String, contents: [UInt8])] { get }

    /// What the events of one partition, in the order of their chain, do to the tables. Names stand without a schema. Events of a
    /// partition come exactly once; those of several partitions in any order.
    ///
    /// - Throws: where an event cannot be read. That stops the projection, loudly: what it does not know may matter to it.
    func statements(for events: [EventEnvelope]) throws(UnreadableBody) -> [SQL]
}
