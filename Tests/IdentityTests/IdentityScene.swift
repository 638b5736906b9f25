import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import IdentityDomain
import IdentityService
import JSON
import LoopService
import Postgres
import Projections
import Synchronization
import TestSupport

/// Identity's loop over a log in memory and a real Postgres.
final class IdentityScene: Sendable {
    typealias Store = PostgresProjectionStore<IdentityTables>
    typealias Instance = RunningLoop<Store>

    static let partitions = 4
    static let tables = [
        "identity.users", "identity.identifiers", "identity.onboarding_sessions", "identity.verified_contacts",
        "identity.outcomes",
    ]

    let database: TestDatabase
    let clock = SettableClock()
    let log: SimulatedLog
    let authenticator: RecordAuthenticator
    let relay: EventRelay
    private let connection: Mutex<PostgresConnection>

    init() throws {
        database = try Self.migratedDatabase()
        authenticator = try EventRelay.authenticator()
        log = SimulatedLog(partitions: Self.partitions, now: { [clock] in clock.now })
        relay = try EventRelay(
            on: log, as: .verification, inbox: .verificationCommands, events: .verificationEvents, authenticator: authenticator)
        connection = Mutex(try database.connect())
    }

    static func migratedDatabase() throws -> TestDatabase {
        let database = try TestDatabase.create()
        try Preparation.apply(IdentityService.migrations(), configuration(of: database))
        return database
    }

    static func configuration(of database: TestDatabase) -> PostgresConnection.Configuration {
        PostgresConnection.Configuration(database.connectionString, applicationName: "test")
    }

    func store() -> Store { Store(IdentityTables(), connection: Self.configuration(of: database)) }

    /// Starts an instance.
    func start() -> Instance {
        let store = store()
        return Instance(
            log: log, domain: store.tables.domain, settings: IdentityPartition.settings, authenticator: authenticator,
            store: store)
    }

    @discardableResult
    func query(_ sql: SQL) throws -> PostgresRows { try connection.withLock { try $0.query(sql) } }

    func dump() throws -> [String: [String]] {
        try connection.withLock { try TableDump.rows(of: Self.tables, over: $0) }
    }

    // MARK: What other parts do

    static func subject(_ number: Int) -> Subject { Subject(bytes: Array(SHA256.hash(Array("\(number)".utf8)).prefix(16)))! }

    static func partition(of subject: Subject) -> Int { subject.routingKey.partition(among: partitions) }

    func confirm(
        _ subject: Subject, purpose: Purpose = .emailVerification, replyTo: ReplyAddress? = nil
    ) {
        relay.emit(CodeConfirmed(subject: subject, purpose: purpose, channel: purpose.channel), about: subject, replyTo: replyTo)
    }

    static let address = ReplyAddress(
        partition: 1, process: [UInt8](repeating: 5, count: 16), publicKey: [UInt8](repeating: 6, count: 32),
        request: [UInt8](repeating: 8, count: 16))

    /// Outcomes of the replies sent so far, with what they answer.
    var replies: [(cause: String, outcome: String)] {
        (0..<Self.partitions).flatMap { log.records(of: TopicPartition(.replies, $0)) }.map { record in
            let cause = record.header(HeaderName.causation).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return (cause, (try? JSON.parse(record.value))?["outcome"]?.string ?? "")
        }
    }

    /// Valid events of Identity, as an instance told them, in the order of each partition.
    func addUser(_ user: UserID, with subject: Subject, channel: Channel = .email, erased: Bool = false, disabled: Bool = false)
        throws
    {
        let partition = Int32(Self.partition(of: subject))
        try query(
            """
            INSERT INTO identity.users (id, partition, created_at, credential_version, disabled, erased_at)
            VALUES (\(PostgresUUID(user.bytes)), \(partition), '2026-01-01', 3, \(disabled), CASE WHEN \(erased) THEN now() END)
            """)
        try query(
            """
            INSERT INTO identity.identifiers (subject, partition, channel, user_id, attached_at)
            VALUES (\(subject.bytes), \(partition), \(channel.rawValue), \(PostgresUUID(user.bytes)), '2026-01-01')
            """)
    }

    func addSession(_ id: OnboardingSessionID, for subject: Subject, status: String = "active", lifetime: Interval = .days(1))
        throws
    {
        let expiresAt = PostgresTimestamp(milliseconds: (clock.now + lifetime).milliseconds)
        try query(
            """
            INSERT INTO identity.onboarding_sessions (id, partition, subject, channel, status, created_at, expires_at, superseded_by)
            VALUES (\(PostgresUUID(id.bytes)), \(Int32(Self.partition(of: subject))), \(subject.bytes), 'email', \(status), now(),
                \(expiresAt), CASE WHEN \(status) = 'superseded' THEN gen_random_uuid() END)
            """)
    }

    func user(_ number: UInt8) -> UserID {
        UserID(bytes: [0, 0, 0, 0, 0, 0, 0x80, 0, 0x80] + [UInt8](repeating: number, count: 7))!
    }
}
