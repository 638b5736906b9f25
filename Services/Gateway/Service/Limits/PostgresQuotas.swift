public import Postgres
import Runtime
import Synchronization

/// Counts in Postgres, for all gateways together: one statement at a time and gateway, however many requests wait.
public final class PostgresQuotas: QuotaCounter {
    private let batcher: Batcher<Quota, Admission>
    private let full = Mutex<[[UInt8]: Full]>([:])

    /// A budget that is known to be used up.
    private struct Full {
        var until: ContinuousClock.Instant
        /// After that Postgres is asked again, whatever it said: an operator may have emptied the table.
        var forgottenAt: ContinuousClock.Instant
    }

    private static let remembered: Duration = .seconds(2)
    private static let capacity = 10_000

    /// - Parameter pool: its transactions may commit asynchronously.
    public init(_ pool: PostgresPool) {
        batcher = Batcher(limit: 512) { quotas in
            let batch = LimitBatch(quotas)
            let rows = try await pool.query(LimitStatement.take(batch.entries, at: nil))
            return try batch.admissions(rows.decode([UInt8].self, Int32.self, Int64.self))
        }
    }

    public func take(_ quota: Quota) async throws -> Admission {
        let asked = ContinuousClock.now
        if let wait = knownWait(quota.key, at: asked) { return .refused(wait: wait) }
        let admission = try await batcher.ask(quota)
        // Counted from before the statement ran: remembered too short rather than too long.
        if case .refused(let wait) = admission { remember(quota.key, until: asked + wait, at: asked) }
        return admission
    }

    /// A window that is full stays so until its oldest request leaves it: a flood that is over its limit costs Postgres
    /// nothing.
    private func knownWait(_ key: [UInt8], at now: ContinuousClock.Instant) -> Duration? {
        full.withLock { full in
            guard let entry = full[key] else { return nil }
            guard now < entry.until, now < entry.forgottenAt else {
                full[key] = nil
                return nil
            }
            return now.duration(to: entry.until)
        }
    }

    private func remember(_ key: [UInt8], until: ContinuousClock.Instant, at now: ContinuousClock.Instant) {
        full.withLock { full in
            if full.count >= Self.capacity { full = full.filter { now < $0.value.until && now < $0.value.forgottenAt } }
            guard full.count < Self.capacity else { return }
            full[key] = Full(until: until, forgottenAt: now + Self.remembered)
        }
    }
}

/// Several questions about the same budget become one entry of the statement, and its outcome becomes their answers.
struct LimitBatch {
    private let quotas: [Quota]
    private(set) var entries: [LimitStatement.Entry] = []
    private var places: [[UInt8]: Int] = [:]

    init(_ quotas: [Quota]) {
        self.quotas = quotas
        for quota in quotas {
            if let place = places[quota.key] {
                entries[place].asked += quota.counts ? 1 : 0
            } else {
                places[quota.key] = entries.count
                entries.append(
                    LimitStatement.Entry(
                        key: quota.key, asked: quota.counts ? 1 : 0, most: quota.rate.count,
                        span: Int64(quota.rate.window.milliseconds)))
            }
        }
    }

    /// The first who asked are admitted.
    func admissions(_ rows: [([UInt8], Int32, Int64)]) -> [Admission] {
        var left: [[UInt8]: (admitted: Int, wait: Int64)] = [:]
        // What found room, or leaves some, had it.
        var roomy: Set<[UInt8]> = []
        for (key, admitted, wait) in rows {
            left[key] = (Int(admitted), wait)
            if admitted > 0 || wait <= 0 { roomy.insert(key) }
        }
        return quotas.map { quota in
            if !quota.counts, roomy.contains(quota.key) { return .admitted }
            guard let (admitted, wait) = left[quota.key], admitted > 0, quota.counts else {
                return .refused(wait: .milliseconds(max(1, left[quota.key]?.wait ?? 1)))
            }
            left[quota.key] = (admitted - 1, wait)
            return .admitted
        }
    }
}
