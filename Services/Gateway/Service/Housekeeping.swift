public import Postgres
public import Runtime

/// Deletes what is over: spent budgets, requests and answers that are remembered no longer. In small steps, so that nobody waits.
public struct Housekeeping: Component {
    public let name = "housekeeping"
    private let pool: PostgresPool
    private let users: UserAnswers
    private let interval: Duration
    private let step: Int
    private let logger: Logger
    private let deleted: Labelled<Counter>

    public init(
        _ pool: PostgresPool, users: UserAnswers, interval: Duration = .seconds(30), step: Int = 1_000, logger: Logger,
        metrics: Metrics
    ) {
        self.pool = pool
        self.users = users
        self.interval = interval
        self.step = step
        self.logger = logger
        deleted = metrics.counters("latchkey_gateway_deleted_rows_total", "Rows whose time was over.", labels: ["table"])
    }

    public func run() async throws {
        let work = Task {
            while !Task.isCancelled {
                // Several gateways do the same, so not all at once.
                try await Task.sleep(for: interval * Double.random(in: 0.75...1.25))
                users.sweep()
                do {
                    try await sweep()
                } catch let error as PostgresError {
                    logger.warning("old rows could not be deleted", ["reason": .public(error.description)])
                }
            }
        }
        await gracefulShutdown()
        work.cancel()
        _ = await work.result
    }

    /// Goes once through everything.
    func sweep() async throws {
        var next: [UInt8]? = []
        while let after = next {
            let rows = try await pool.query(LimitStatement.sweep(after: after, step: step, at: nil))
            guard let row = rows.first else { break }
            let (last, count) = try row.decode([UInt8]?.self, Int64.self)
            deleted.with("limits").increment(by: Int(count))
            next = last
        }
        while true {
            let count = try await pool.query(PostgresAnswers.sweep(step: step)).affected
            deleted.with("idempotency").increment(by: count)
            if count < step { break }
        }
    }
}
