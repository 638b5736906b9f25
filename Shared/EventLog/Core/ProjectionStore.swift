/// A projection that decisions read. Blocks; called on the loop's thread only.
public protocol ProjectionStore<Domain>: Sendable {
    associatedtype Domain: PartitionDomain

    /// Where the projection of these partitions stands; those that were never projected are absent.
    func checkpoints(of partitions: [Int]) throws(LogError) -> [Int: Checkpoint]

    /// Loads what one batch per partition reads: in one query for all. Fails with `.unavailable` when it may be tried again, and
    /// with `.closed` where the projection has gone back behind what it was known to hold: then the loops start over.
    func load(_ requests: [Int: LoadRequest<Domain.Key>]) throws(LogError) -> [Int: LoadedBatch<Domain.Key, Domain.Aggregate>]

    /// Projects events of several partitions, each with its checkpoint, in one transaction. A partition whose stored
    /// checkpoint is not `from` is left alone and reported. Fails with `.unavailable` when it may be tried again: whether the
    /// transaction was committed shows in the checkpoints.
    func project(_ batches: [Int: ProjectionBatch<Domain.Event>]) throws(LogError) -> [Int: ProjectionOutcome]
}

/// For domains whose state is in memory: there is nothing to load.
public struct NoProjection<Domain: PartitionDomain>: ProjectionStore {
    public init() {}

    public func checkpoints(of partitions: [Int]) throws(LogError) -> [Int: Checkpoint] { [:] }

    public func load(_ requests: [Int: LoadRequest<Domain.Key>]) throws(LogError) -> [Int: LoadedBatch<
        Domain.Key, Domain.Aggregate
    >] {
        requests.mapValues { _ in LoadedBatch(aggregates: [:]) }
    }

    public func project(_ batches: [Int: ProjectionBatch<Domain.Event>]) throws(LogError) -> [Int: ProjectionOutcome] {
        batches.mapValues { _ in .projected }
    }
}
