public import Crypto
public import EventLog
public import EventSchema
public import Postgres
public import Runtime
internal import Synchronization

/// The check workers of an instance as a part of it: takes its share of the checks, whatever partition they belong to, works on
/// them on as many threads as there are cores, and sends what they lead to.
///
/// At least once: what was taken and not sent on when an instance dies is taken by another. Commands keep the id of their check,
/// so it makes no difference.
public final class CheckRunner: Component {
    /// The name of its part in readiness.
    public static let part = "checks"
    /// Its instances share the partitions of the work queue.
    static let group = ConsumerGroup(name: "identity-checks", topic: .identityChecks)

    public let name = "checks"
    public let drainDeadline: Duration = .seconds(8)

    let log: any EventLog
    let authenticator: RecordAuthenticator
    let directory: AccountDirectory
    let database: PostgresConnection.Configuration
    let work: CheckWork
    let threads: Int
    let time: LogTime
    let logger: Logger
    let readiness: Readiness
    let metrics: CheckMetrics
    private let pause = Mailbox<Never>()
    private let marks = Mutex<[TopicPartition: Int64]>([:])

    /// What it reads.
    public static let inboxes: [Topic] = [.identityChecks, .verificationEvents]

    /// - Parameters:
    ///   - opener: holds Identity's pairs.
    ///   - notifier: whom notices are sealed to; `nil` while no key of the Notifier is known.
    ///   - threads: how many passwords are hashed at once.
    ///   - time: the log's clock; learns from what the workers append.
    /// - Throws: `.outOfMemory` where not one password can be hashed.
    public init(
        log: any EventLog, authenticator: RecordAuthenticator, secret: Secret, accepted: [Secret] = [], routing: Routing,
        opener: BoxOpener,
        sealer: BoxSealer, notifier: @escaping @Sendable () -> RecipientKey?, cost: Argon2Settings, threads: Int,
        database: PostgresConnection.Configuration, context: ServiceContext, time: LogTime
    ) throws(CryptoError) {
        self.log = log
        self.authenticator = authenticator
        directory = AccountDirectory(keys: DataKeyStore(secret: secret, accepted: accepted))
        self.database = database
        work = try CheckWork(
            secret: secret, routing: routing, opener: opener, sealer: sealer, notifier: notifier, cost: cost)
        self.threads = threads
        self.time = time
        logger = context.logger
        readiness = context.readiness
        metrics = CheckMetrics(context.metrics)
        readiness.expect(Self.part)
        if !PasswordHash.keepsMemory { logger.warning("each password hash maps memory of its own, which takes twice as long") }
    }

    /// Works until a shutdown is asked for.
    ///
    /// - Throws: `LogError` for what does not pass by waiting.
    public func run() async throws {
        let pause = pause
        try await WorkerThread(name: "checks", wake: { pause.wake() }) { [self] stop in try serve(until: stop) }.run()
    }

    /// Up to which offset everything is done, of the partitions that this instance has had.
    public var done: [TopicPartition: Int64] { marks.withLock { $0 } }

    func note(_ offsets: [TopicPartition: Int64]) { marks.withLock { $0.merge(offsets) { $1 } } }

    func serve(until stop: StopFlag) throws {
        var isAway = false
        while !stop.isRaised {
            do throws(LogError) {
                var session = try CheckSession(self)
                defer { session.close() }
                readiness.set(Self.part, ready: true)
                if isAway { logger.notice("checks are taken again") }
                isAway = false
                try session.run(until: stop)
            } catch {
                guard error.passes else { throw error }
                if !isAway { logger.warning("no checks are taken", ["reason": .public(error.description)]) }
                isAway = true
                readiness.set(Self.part, ready: false, "the log is away")
                _ = pause.receive(within: .milliseconds(500))
            }
        }
    }
}

/// What other threads leave for the one that takes checks.
enum CheckMail: Sendable {
    /// What this record led to stands in the log, or nobody waits for it any more.
    case done(TopicPartition, offset: Int64)
    /// The log did not take it, or did not say so: it has to be sent again.
    case failed(CheckRequest, OutgoingRecord, LogError)
}
