import EventSchema

@testable import EventLog

/// A projection of one partition in memory, with transactions that others may have come before.
struct ProjectionMemory<Domain: PartitionDomain> {
    let domain: Domain
    private(set) var rows: [Domain.Key: Domain.Aggregate] = [:]
    private(set) var checkpoint: Checkpoint?
    private var known: [MessageID: CommandOutcome] = [:]
    /// Whether calls fail.
    var isAway = false
    /// Whether a transaction compares the checkpoint; always, but for one broken rule.
    private let compares: Bool

    init(domain: Domain, compares: Bool) {
        self.domain = domain
        self.compares = compares
    }

    /// `nil`: it is away.
    func load(_ request: LoadRequest<Domain.Key>) -> LoadedBatch<Domain.Key, Domain.Aggregate>? {
        if isAway { return nil }
        let found = request.keys.compactMap { key in rows[key].map { (key, $0) } }
        let outcomes = request.commands.compactMap { id in known[id].map { (id, $0) } }
        return LoadedBatch(
            aggregates: Dictionary(found) { first, _ in first }, known: Dictionary(outcomes) { first, _ in first })
    }

    /// `nil`: it is away.
    mutating func project(_ batch: ProjectionBatch<Domain.Event>) -> ProjectionOutcome? {
        if isAway { return nil }
        guard batch.from == checkpoint?.position || !compares else { return .conflict(checkpoint) }
        for confirmed in batch.events {
            for command in domain.commands(rememberedBy: confirmed.event, confirmed.envelope) {
                if known[command.id]?.isFinal != true { known[command.id] = command.outcome }
            }
            guard let event = confirmed.event else { continue }
            let key = domain.key(of: event)
            var row = rows[key] ?? domain.initial
            domain.evolve(&row, with: event, at: confirmed.envelope.time)
            rows[key] = row
        }
        checkpoint = batch.to
        return .projected
    }
}
