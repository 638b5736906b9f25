import Crypto
public import Postgres
public import Runtime

/// The gateway's connections to Postgres; the last thing that is closed.
public final class GatewayPools: Component {
    public let name = "postgres"
    /// For what may be lost in a crash, and for reading.
    let quick: PostgresPool
    /// For requests with an idempotency key, which stand on disk before anything is sent for them.
    let durable: PostgresPool

    /// How long one statement, or the wait for a connection, may take: a request must not hang on a server that does.
    static let patience: Duration = .seconds(2)

    public init(_ database: PostgresConnection.Configuration, logger: Logger, metrics: Metrics) {
        var connection = database.goingByKeys
        connection.statementTimeout = Self.patience
        connection.connectTimeout = Self.patience
        durable = PostgresPool(Self.configuration(connection, size: 4))
        connection.settings["synchronous_commit"] = "off"
        var configuration = Self.configuration(connection, size: 3)
        configuration.availabilityChanged = { error in
            if let error {
                logger.warning("Postgres is away", ["reason": .public(error.description)])
            } else {
                logger.notice("Postgres is back")
            }
        }
        quick = PostgresPool(configuration)
        metrics.collect { [quick, durable] in
            [("quick", quick), ("durable", durable)].flatMap { name, pool in
                let now = pool.statistics
                return [("connections", now.connections), ("busy", now.busy), ("waiting", now.waiting)].map { state, count in
                    Sample(
                        "latchkey_postgres_pool", "Connections of a pool, and who waits for them.", .gauge,
                        labels: [("pool", name), ("state", state)], value: Double(count))
                }
            }
        }
    }

    private static func configuration(_ connection: PostgresConnection.Configuration, size: Int) -> PostgresPool.Configuration {
        var configuration = PostgresPool.Configuration(connection)
        configuration.size = size
        configuration.patience = patience
        return configuration
    }

    public func run() async throws {
        await gracefulShutdown()
        await quick.close()
        await durable.close()
    }

    /// A row that is written and taken back: reading alone would not notice a full disk.
    private var trial: [SQL] {
        let key = Random.bytes(16)
        return [
            LimitStatement.take([LimitStatement.Entry(key: key, asked: 1, most: 1, span: 1)], at: nil),
            "DELETE FROM gateway.limits WHERE key = \(key)",
        ]
    }

    /// What requests need of Postgres and do not have; `nil` when they can be served.
    func obstacle() async -> String? {
        do {
            try await quick.query(
                """
                SELECT FROM gateway.limits, gateway.idempotency, identity.accounts_for_gateway, identity.devices_for_gateway,
                    identity.sessions_for_gateway, identity.user_versions_for_gateway,
                    identity_keys.signing_keys_for_gateway LIMIT 0
                """)
            try await quick.batch(trial)
            return nil
        } catch let error as PostgresError {
            if error.state == .diskFull { return "the disk of Postgres is full" }
            if error.isOutage || error.code == .exhausted { return "Postgres is away" }
            let isMissing = [SQLState.undefinedTable, .invalidSchema, .insufficientPrivilege].contains(error.state)
            return isMissing
                ? "tables are missing: of the gateway, or of Identity, which makes them when it starts" : error.description
        } catch {
            return "Postgres is away"
        }
    }
}
