internal import EventLog
internal import EventSchema
internal import IdentityDomain
internal import Projections

/// What a rebuild has folded of one partition and not written yet.
struct PartitionRecords: Sendable {
    let partition: Int
    let domain: IdentityPartition
    private(set) var homes: [RoutingKey: HomeRecords] = [:]
    private(set) var effects = HomeRecords.Effects()
    /// Users whose erasure came later than what is replayed: what was written of their ended sessions is to go.
    private(set) var erasedLater: [UserID] = []
    /// Events whose commands may come again: they say what became of those.
    private var recent: [(event: IdentityEvent?, envelope: EventEnvelope)] = []
    private var recentLimit = 1_000
    /// Rows in memory, more or less.
    private(set) var rows = 0
    /// The minute of the last event, by which it is decided what is over.
    private(set) var sweepTime: Timestamp?

    init(partition: Int, domain: IdentityPartition) {
        self.partition = partition
        self.domain = domain
    }

    /// The homes that these events change and that are not in memory.
    func missing(of events: [IdentityEvent?]) -> [RoutingKey] {
        var missing: Set<RoutingKey> = []
        for case let event? in events {
            let home = domain.key(of: event)
            if homes[home] == nil { missing.insert(home) }
        }
        return Array(missing)
    }

    mutating func add(_ stored: [RoutingKey: HomeRecords]) {
        for (home, records) in stored {
            homes[home] = records
            rows += records.count
        }
    }

    /// An erasure, however much later it happened: the person appears nowhere any more.
    mutating func erase(_ event: UserErased, _ envelope: EventEnvelope) {
        let home = domain.key(of: .userErased(event))
        var changes = HomeChanges()
        changes.add(.userErased(event), HomeChanges.Place(home: home, partition: partition, time: envelope.time))
        var later = HomeRecords.Effects()
        homes[home, default: HomeRecords()].apply(changes, &later)
        effects.ended.removeAll { $0.user == event.user }
        erasedLater.append(event.user)
    }

    mutating func apply(_ event: IdentityEvent?, _ envelope: EventEnvelope) {
        sweepTime = envelope.time.startOfMinute
        if envelope.remember > .zero || !envelope.refused.isEmpty { remember(event, envelope) }
        guard let event else { return }
        let home = domain.key(of: event)
        var changes = HomeChanges()
        changes.add(event, HomeChanges.Place(home: home, partition: partition, time: envelope.time))
        rows += Self.apply(changes, to: &homes[home, default: HomeRecords()], &effects)
    }

    /// Returns how many rows there are more.
    private static func apply(
        _ changes: HomeChanges, to home: inout HomeRecords, _ effects: inout HomeRecords.Effects
    ) -> Int {
        let before = home.count
        home.apply(changes, &effects)
        return home.count - before
    }

    private mutating func remember(_ event: IdentityEvent?, _ envelope: EventEnvelope) {
        recent.append((event, envelope))
        guard recent.count > recentLimit else { return }
        recent.removeAll { $0.envelope.isForgotten(at: envelope.time.startOfMinute) }
        recentLimit = max(1_000, recent.count * 2)
    }

    /// What became of commands that may come again.
    var outcomes: [StoredOutcome] {
        guard let sweepTime else { return [] }
        return StoredOutcome.told(by: recent, of: domain).filter { $0.until >= sweepTime }
    }

    /// Drops what is of no more use.
    mutating func sweep() {
        guard let sweepTime else { return }
        for index in homes.values.indices { homes.values[index].sweep(at: sweepTime) }
        effects.ended.removeAll { $0.endedAt < sweepTime - Keeping.endedSessions }
    }

    /// Everything is written: what the next events need is read again.
    mutating func forget() {
        homes = [:]
        effects = HomeRecords.Effects()
        erasedLater = []
        recent = []
        rows = 0
    }
}

extension EventEnvelope {
    /// Whether no command that it says anything of may come again.
    fileprivate func isForgotten(at now: Timestamp) -> Bool {
        appended + max(remember, refused.map(\.remember).max() ?? .zero) < now
    }
}
