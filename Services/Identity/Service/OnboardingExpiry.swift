public import EventLog
internal import EventSchema
public import Postgres
internal import Projections
public import Runtime

/// Looks for onboarding sessions whose time is over, and has them expire: what was known of somebody who never became a user
/// shall not stay.
///
/// What it asks for is decided like all else, and only where this instance owns the partition; what is lost is found again.
public final class OnboardingExpiry<Store: ProjectionStore<IdentityPartition>>: Component {
    public let name = "expiry"
    private let driver: LoopDriver<Store>
    private let schema: String
    private let database: PostgresConnection.Configuration
    private let interval: Duration
    private let logger: Logger
    private let pause = Mailbox<Never>()

    /// How many identifiers one look finds. It takes the index alone.
    private static var batch: Int64 { 500 }

    /// - Parameter interval: between two looks.
    public init(
        _ driver: LoopDriver<Store>, schema: String = "identity", database: PostgresConnection.Configuration,
        interval: Duration = .seconds(60), logger: Logger
    ) {
        self.driver = driver
        self.schema = schema
        self.database = database
        self.interval = interval
        self.logger = logger
    }

    public func run() async throws {
        let pause = pause
        try await WorkerThread(name: "expiry", wake: { pause.wake() }) { [self] stop in
            let session = PostgresSession(database)
            defer { session.close() }
            while !stop.isRaised {
                do throws(PostgresError) {
                    try look(through: session)
                } catch {
                    logger.warning("expired onboarding sessions were not looked for", ["reason": .public(error.description)])
                }
                _ = pause.receive(within: interval)
            }
        }.run()
    }

    private func look(through session: PostgresSession) throws(PostgresError) {
        // Before the log's clock is known, nobody knows what is over.
        guard let now = driver.now else { return }
        let owned = driver.status.ready
        if owned.isEmpty { return }
        let rows = try session.connection().query(
            """
            SELECT DISTINCT partition::int8, subject FROM (
                SELECT partition, subject FROM \(unsafe: schema).onboarding_sessions
                WHERE status = 'active' AND partition = ANY (\(owned.map(Int32.init))) AND expires_at <= \(PostgresTimestamp(now))
                LIMIT \(Self.batch)
            ) AS over
            """)
        for (partition, subject) in try rows.decode(Int.self, [UInt8].self) {
            guard let subject = Subject(bytes: subject) else { continue }
            driver.submit(.expireOnboarding(of: subject), partition: partition)
        }
    }
}
