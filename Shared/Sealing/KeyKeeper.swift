public import Crypto
public import EventLog
public import EventSchema
internal import Postgres
public import Runtime
internal import Synchronization

/// A service's part in sealing, on one thread of its own: it follows the topic `keys` into the directory, makes and
/// publishes the service's own keys, destroys those whose time is over, and tells readiness which keys are missing.
public final class KeyKeeper: Component {
    /// The name of its part in readiness.
    public static let part = "sealing keys"

    public let name = "sealing keys"
    public let directory: KeyDirectory

    let log: any EventLog
    let authenticator: RecordAuthenticator
    let own: OwnSealingKeys
    let needs: Set<ServiceName>
    let sealers: [BoxSealer]
    let readiness: Readiness
    let logger: Logger
    let interval: Duration
    /// Learnt from what this keeper appends, if it appends anything; else somebody else has to.
    public let time: LogTime
    let now: @Sendable () -> Timestamp?
    let metrics: KeyMetrics
    private let consumer = Mutex<(any LogConsumer)?>(nil)
    /// Woken when waiting makes no sense any more.
    private let pause = Mailbox<Never>()

    /// - Parameters:
    ///   - needs: the services that this one seals to. It is ready when each of them has a usable key, and its own keys stand
    ///     in the topic.
    ///   - sealers: those whose own pairs are to be forgotten in time, also while nothing is sealed.
    ///   - interval: how often own keys are looked after. What was published and does not stand in the topic by the next time
    ///     is published again.
    ///   - time: the log's clock, by which keys begin and end. A service with keys of its own asks for it here; for another one
    ///     it is learnt elsewhere.
    ///   - now: tests move it by hand.
    public init(
        log: any EventLog, directory: KeyDirectory, authenticator: RecordAuthenticator, own: OwnSealingKeys,
        needs: Set<ServiceName>, sealers: [BoxSealer] = [], context: ServiceContext, interval: Duration = .seconds(60),
        time: LogTime = LogTime(), now: (@Sendable () -> Timestamp?)? = nil
    ) {
        self.log = log
        self.directory = directory
        self.authenticator = authenticator
        self.own = own
        self.needs = needs
        self.sealers = sealers
        self.readiness = context.readiness
        self.logger = context.logger
        self.interval = interval
        self.time = time
        self.now = now ?? { time.now }
        metrics = KeyMetrics(context.metrics)
        context.readiness.expect(Self.part)
    }

    /// Works until a shutdown is asked for.
    ///
    /// - Throws: `SealingError` for what does not pass: a log that lost data, a record of a newer release, pairs wrapped under
    ///   another secret.
    public func run() async throws {
        try await WorkerThread(name: "keys", wake: wake, work).run()
    }

    private func work(until stop: StopFlag) throws {
        var session = KeySession(keeper: self)
        try session.run(until: stop)
    }

    /// Ends whatever its thread waits for.
    func wake() {
        consumer.withLock { $0 }?.wake()
        pause.wake()
    }

    func setConsumer(_ consumer: (any LogConsumer)?) { self.consumer.withLock { $0 = consumer } }

    func rest(_ duration: Duration) { _ = pause.receive(within: duration) }
}
