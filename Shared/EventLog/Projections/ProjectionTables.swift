public import EventLog
public import EventSchema
public import Postgres

/// The tables of one service's projection: how a batch of decisions reads them, and what events change in them.
///
/// Each row belongs to one partition, and only events of that partition change it, so that partitions can be projected, and
/// rebuilt, independently of each other.
public protocol ProjectionTables<Domain>: Sendable {
    associatedtype Domain: PartitionDomain

    var domain: Domain { get }

    /// The Postgres schema that the tables stand in: a trusted name.
    var schema: String { get }

    /// One statement that reads the rows of all these keys, of one moment.
    func reading(_ keys: [Domain.Key]) -> SQL

    /// What the rows say. Keys without a row are absent.
    func aggregates(in rows: PostgresRows) throws(PostgresError) -> [Domain.Key: Domain.Aggregate]

    /// Statements that bring the rows up to date with the events of one or more partitions, which come in the order of their
    /// partition's chain. They touch nothing of partitions that are not in `passed`, a subquery in parentheses: another
    /// instance has projected those already.
    func writing(_ events: [ConfirmedEvent<Domain.Event>], where passed: SQL) -> [SQL]

    /// Statements that drop rows that are of no more use at these times, by partition; of `passed` ones alone, as above. They
    /// run behind those of `writing`, once in each minute of the events' time.
    func housekeeping(at times: [Int: Timestamp], where passed: SQL) -> [SQL]
}

extension ProjectionTables {
    public func housekeeping(at times: [Int: Timestamp], where passed: SQL) -> [SQL] { [] }
}
