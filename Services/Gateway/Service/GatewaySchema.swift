public import Postgres
public import Runtime

/// Brings the gateways' tables to the newest version, as soon as Postgres can be reached.
public struct GatewaySchema: Component {
    public let name = "schema"
    private let pool: PostgresPool
    private let logger: Logger
    private let readiness: Readiness

    /// What `/readyz` calls it.
    static let part = "schema"

    public init(_ pool: PostgresPool, logger: Logger, readiness: Readiness) {
        self.pool = pool
        self.logger = logger
        self.readiness = readiness
        readiness.expect(Self.part)
    }

    public static let migrations: Migrations = {
        let files = [(name: "0001_limits_and_idempotency.sql", contents: PackageResources._001_limits_and_idempotency_sql)]
        do {
            return try Migrations(schema: "gateway", files: files)
        } catch {
            preconditionFailure("the numbers of the migrations are wrong: \(error)")
        }
    }()

    public func run() async throws {
        let work = Task { try await migrate() }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                do {
                    try await work.value
                } catch is CancellationError {
                    return
                }
                await gracefulShutdown()
            } onShutdown: {
                work.cancel()
            }
        } onCancel: {
            work.cancel()
        }
    }

    /// Throws what waiting does not help against: a migration that was changed, a missing right.
    private func migrate() async throws {
        while true {
            do {
                let count = try await pool.withConnection { connection in try Self.migrations.apply(over: connection) }
                if count > 0 { logger.notice("the schema was brought up to date", ["migrations": .public(count)]) }
                readiness.set(Self.part, ready: true)
                return
            } catch let error as PostgresError where error.isRetriable {
                readiness.set(Self.part, ready: false, "Postgres cannot be reached")
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }
}
