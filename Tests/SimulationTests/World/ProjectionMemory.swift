import EventSchema

@testable import EventLog

/// A projection of one partition in memory, with transactions that others may have come before.
struct ProjectionMemory<Domain: PartitionDomain> {
    let domain: Domain
    private(set) var rows: [Domain.Key: Domain.Aggregate] = [:]
    private(set) var checkpoint: Checkpoint?
    private var known: [MessageID: Answer] = [:]
    /// Whether calls fail.
    var isAway = false
    /// The next transaction is committed, and its caller does not hear of it.
    var losesOutcome = false

    init(domain: Domain) { self.domain = domain }

    /// `nil`: it is away.
    func load(_ request: LoadRequest<Domain.Key>) -> LoadedBatch<Domain.Key, Domain.Aggregate>? {
        if isAway { return nil }
        let found = request.keys.compactMap { key in rows[key].map { (key, $0) } }
        let outcomes = request.commands.compactMap { id in known[id].map { (id, $0) } }
        return LoadedBatch(
            aggregates: Dictionary(found) { first, _ in first }, known: Dictionary(outcomes) { first, _ in first })
    }

    /// `nil`: it is away, or the answer was lost.
    mutating func project(_ batch: ProjectionBatch<Domain.Event>) -> ProjectionOutcome? {
        if isAway { return nil }
        guard batch.from == checkpoint?.position else { return .conflict(checkpoint) }
        for confirmed in batch.events {
            guard let event = confirmed.event else { continue }
            let key = domain.key(of: event)
            var row = rows[key] ?? domain.initial
            domain.evolve(&row, with: event, at: confirmed.envelope.time)
            rows[key] = row
            if let causation = confirmed.envelope.causation, let answer = domain.answer(to: event) { known[causation] = answer }
        }
        checkpoint = batch.to
        if losesOutcome {
            losesOutcome = false
            return nil
        }
        return .projected
    }
}
