public import Postgres
import Runtime
import Synchronization

/// Counts in Postgres, for all gateways together: one statement at a time and gateway, however many requests wait.
public final class PostgresQuotas: QuotaCounter {
    private let batcher: Batcher<LimitBatch.Question, LimitBatch.Answer>
    private let full = Mutex<[[UInt8]: Full]>([:])

    /// A budget that is known to be used up.
    private struct Full {
        var until: ContinuousClock.Instant
        /// After that Postgres is asked again, whatever it said: an operator may have emptied the table.
        var forgottenAt: ContinuousClock.Instant
    }

    private static let remembered: Duration = .seconds(2)
    private static let capacity = 10_000
    private static let attempts = 3

    /// - Parameter pool: its transactions may commit asynchronously.
    public init(_ pool: PostgresPool) {
        batcher = Batcher(limit: 512) { questions in
            let batch = LimitBatch(questions)
            let rows = try await Self.rows(of: LimitStatement.take(batch.entries, then: batch.followers, at: nil), over: pool)
            return try batch.answers(rows.decode([UInt8].self, Int32.self, Int64.self))
        }
    }

    /// Gateways that go by other limits take the same keys in another order. Of two that wait for each other Postgres refuses
    /// one, which has counted nothing.
    private static func rows(of statement: SQL, over pool: PostgresPool) async throws -> PostgresRows {
        for _ in 1..<attempts {
            do {
                return try await pool.query(statement)
            } catch let error as PostgresError where error.state == .deadlockDetected {}
        }
        return try await pool.query(statement)
    }

    public func take(_ quota: Quota, then next: Quota?) async throws -> (first: Admission, next: Admission?) {
        let asked = ContinuousClock.now
        if let wait = knownWait(quota.key, at: asked) { return (.refused(wait: wait), nil) }
        if let next, let wait = knownWait(next.key, at: asked) {
            let first = try await take(quota, then: nil).first
            return (first, first == .admitted ? .refused(wait: wait) : nil)
        }
        let answer = try await batcher.ask((quota, next))
        // Counted from before the statement ran: remembered too short rather than too long.
        if case .refused(let wait) = answer.first { remember(quota.key, until: asked + wait, at: asked) }
        if let next, case .refused(let wait) = answer.next { remember(next.key, until: asked + wait, at: asked) }
        return answer
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
    typealias Question = (first: Quota, next: Quota?)
    typealias Answer = (first: Admission, next: Admission?)

    private let questions: [Question]
    private(set) var entries: [LimitStatement.Entry] = []
    private(set) var followers: [LimitStatement.Follower] = []
    private var places: [[UInt8]: Int] = [:]

    init(_ questions: [Question]) {
        self.questions = questions
        for (quota, next) in questions {
            let entry = places[quota.key] ?? entries.count
            if entry == entries.count {
                places[quota.key] = entry
                entries.append(
                    LimitStatement.Entry(
                        key: quota.key, asked: 0, most: quota.rate.count, span: Int64(quota.rate.window.milliseconds)))
            }
            if quota.counts { entries[entry].asked += 1 }
            guard let next else { continue }
            precondition(next.counts, "a second budget is counted in")
            followers.append(
                LimitStatement.Follower(
                    key: next.key, most: next.rate.count, span: Int64(next.rate.window.milliseconds), first: entry,
                    place: quota.counts ? entries[entry].asked : 0))
        }
    }

    /// The first who asked are admitted.
    func answers(_ rows: [([UInt8], Int32, Int64)]) -> [Answer] {
        var left: [[UInt8]: (admitted: Int, wait: Int64)] = [:]
        // What found room, or leaves some, had it.
        var roomy: Set<[UInt8]> = []
        for (key, admitted, wait) in rows {
            left[key] = (Int(admitted), wait)
            if admitted > 0 || wait <= 0 { roomy.insert(key) }
        }
        func admission(_ quota: Quota) -> Admission {
            if !quota.counts, roomy.contains(quota.key) { return .admitted }
            guard let (admitted, wait) = left[quota.key], admitted > 0, quota.counts else {
                return .refused(wait: .milliseconds(max(1, left[quota.key]?.wait ?? 1)))
            }
            left[quota.key] = (admitted - 1, wait)
            return .admitted
        }
        return questions.map { quota, next in
            let first = admission(quota)
            return (first, first == .admitted ? next.map { admission($0) } : nil)
        }
    }
}
