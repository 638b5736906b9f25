public import EventLog
internal import EventSchema
public import Runtime

/// Runs the loops of a service as a part of it, on one thread, and tells operators what they do.
public final class LoopRunner<Store: ProjectionStore>: Component {
    /// The name of its part in readiness.
    public static var part: String { "decisions" }

    public let name = "decisions"
    public let driver: LoopDriver<Store>
    /// The name that this process writes its records under; no other process ever has it.
    public let writer = MessageID.random().text
    private let readiness: Readiness
    private let lag: LagMeter
    /// Runs the driver. Made where the store's type is known, so that all of the loop is compiled for it: what calls through a
    /// protocol, as `run` is called, would look every type up while it decides.
    private let decide: @Sendable () throws(LogError) -> Void

    /// How long an instance without a partition waits for one before it calls itself ready: there may be more instances than
    /// partitions.
    private static var patience: Duration { .seconds(5) }
    /// How long after a record was not taken the log counts as one that takes none.
    private static var doubt: Duration { .seconds(3) }

    /// - Parameters:
    ///   - noticed: called on the loop's thread, after the notice was logged.
    ///   - happened: called on the loop's thread, after an event took effect here.
    public init(
        log: any EventLog, domain: Store.Domain, settings: LoopSettings, authenticator: RecordAuthenticator, store: Store,
        context: ServiceContext, noticed: @escaping @Sendable (LoopNotice) -> Void = { _ in },
        happened: @escaping @Sendable (ConfirmedEvent<Store.Domain.Event>, _ isOwner: Bool) -> Void = { _, _ in }
    ) {
        let logger = context.logger
        let driver = LoopDriver(
            log: log, domain: domain, settings: settings, authenticator: authenticator, store: store,
            writer: writer,
            notice: { notice in
                notice.write(to: logger)
                noticed(notice)
            }, happened: happened)
        self.driver = driver
        decide = { () throws(LogError) in try driver.run() }
        readiness = context.readiness
        lag = LagMeter(log: log, settings: settings, status: { driver.status })
        readiness.expect(Self.part)
        LoopMetrics.register(in: context.metrics, settings: settings, status: { driver.status }, lag: lag)
    }

    /// Decides until a shutdown is asked for.
    ///
    /// - Throws: `LogError` for what does not pass by waiting.
    public func run() async throws {
        let (driver, decide) = (driver, decide)
        let watch = Task { await self.watch() }
        let meter = lag.start()
        defer {
            watch.cancel()
            meter.stop.raise()
        }
        try await WorkerThread(name: "decisions", wake: { driver.stop() }) { _ in try decide() }.run()
    }

    /// Keeps readiness up to date.
    private func watch() async {
        let start = ContinuousClock.now
        var (failures, lastFailure) = (0, ContinuousClock.now - Self.doubt)
        while !Task.isCancelled {
            let (status, now) = (driver.status, ContinuousClock.now)
            if status.appendFailures > failures { (failures, lastFailure) = (status.appendFailures, now) }
            var obstacle = Self.obstacle(status, waited: now - start)
            if obstacle == nil, now < lastFailure + Self.doubt { obstacle = "the log takes no records" }
            readiness.set(Self.part, ready: obstacle == nil, obstacle ?? "")
            try? await Task.sleep(for: .milliseconds(obstacle == nil ? 500 : 50))
        }
    }

    static func obstacle(_ status: LoopStatus, waited: Duration) -> String? {
        if let (partition, error) = status.gaveUp.min(by: { $0.key < $1.key }) {
            return "partition \(partition) stands still: \(error.code.rawValue)"
        }
        if !status.isAvailable { return "the log is away" }
        if !status.hasStarted { return "events are being read" }
        if status.owned.isEmpty { return waited < patience ? "no partition was assigned yet" : nil }
        return status.owned.isSubset(of: status.ready) ? nil : "partitions are being taken over"
    }
}

extension LoopNotice {
    func write(to logger: Logger) {
        switch self {
        case .tookOver(let partitions): logger.info("took partitions over", ["partitions": .public(Self.list(partitions))])
        case .released(let partitions): logger.info("released partitions", ["partitions": .public(Self.list(partitions))])
        case .readsFromBeginning(let partitions):
            logger.notice(
                "no position was committed: events are read from the beginning", ["partitions": .public(Self.list(partitions))])
        case .gaveUp(let partition, let error):
            logger.error(
                "a partition stands still",
                ["partition": .public(partition.description), "reason": .public(error.description)])
        case .skippedLate(let event):
            logger.error(
                "an event may have been projected before it was skipped: compare the tables with a rebuild",
                ["partition": .public(event.partition.description), "offset": .public(Int(event.offset))])
        case .waits(let error): logger.warning("waiting", ["reason": .public(error.description)])
        case .resumes: logger.notice("going on")
        }
    }

    private static func list(_ partitions: [Int]) -> String { partitions.sorted().map(String.init).joined(separator: ",") }
}
