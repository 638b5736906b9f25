public import EventLog
public import EventSchema
public import Postgres
public import Runtime
internal import Synchronization

/// Keeps an attached projection up to date, as a part of a service, on a thread of its own. It holds nobody up: the service is
/// ready without it. Where several instances run it, each event is taken in by one of them.
public final class AttachedRunner<Projection: AttachedProjection>: Component {
    public let name: String
    private let tables: AttachedTables<Projection>
    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let database: PostgresConnection.Configuration
    private let since: Timestamp?
    private let logger: Logger
    private let meter: AttachedMeter
    private let pause = Mailbox<Never>()

    /// - Parameter since: at its very beginning, events that were appended earlier are left out; `nil`: all are taken in.
    public init(
        _ projection: Projection, log: any EventLog, authenticator: RecordAuthenticator,
        database: PostgresConnection.Configuration, since: Timestamp? = nil, context: ServiceContext
    ) {
        name = projection.name
        tables = AttachedTables(
            projection: projection, schema: projection.name, log: log, authenticator: authenticator)
        self.log = log
        self.authenticator = authenticator
        self.database = database
        self.since = since
        logger = context.logger
        meter = AttachedMeter(projection.name, context.metrics)
    }

    /// Works until a shutdown is asked for. What it cannot go on behind (an event that cannot be read, a statement that Postgres
    /// refuses, a log that has lost data) stops nothing else in the service: it says so, and looks again.
    public func run() async throws {
        let pause = pause
        try await WorkerThread(name: name, wake: { pause.wake() }) { [self] stop in work(until: stop) }.run()
    }

    private func work(until stop: StopFlag) {
        let session = PostgresSession(database)
        // Told once.
        var obstacle: String?
        var place = Place()
        while !stop.isRaised {
            do {
                let connection = try session.connection()
                try tables.prepare(over: connection)
                try follow(over: connection, &place, until: stop) {
                    if obstacle != nil { logger.notice("the projection goes on", ["projection": .public(name)]) }
                    obstacle = nil
                }
            } catch {
                let (reason, isPassing) = ("\(error)", Self.passes(error))
                if reason != obstacle {
                    logger.log(
                        isPassing ? .warning : .error, isPassing ? "the projection waits" : "the projection stands still",
                        ["projection": .public(name), "reason": .public(reason)])
                }
                obstacle = reason
                // However long it stands, it shows how far it is behind. Whether the log can be asked is no obstacle of its own.
                try? show(&place, over: ChainScan(log, authenticator: authenticator, client: name))
                _ = pause.receive(within: isPassing ? .milliseconds(200) : .seconds(5))
            }
        }
    }

    /// Whether it passes by waiting.
    private static func passes(_ error: any Error) -> Bool {
        switch error {
        case let error as LogError: error.passes
        case let error as PostgresError: error.isRetriable
        default: false
        }
    }

    /// How far the projection is, and when that was shown last.
    private struct Place {
        var positions: [TopicPartition: ChainPosition] = [:]
        var shown: ContinuousClock.Instant?
    }

    private func show(_ place: inout Place, over scan: @autoclosure () throws -> ChainScan) throws {
        if let shown = place.shown, .now < shown + .seconds(5) { return }
        place.shown = .now
        for (partition, end) in try scan().ends(of: tables.projection.topics) {
            meter.show(partition, behind: end - (place.positions[partition]?.offset ?? 0))
        }
    }

    /// Until somebody else has gone on, or the tables were replaced: then it begins again where those are.
    private func follow(
        over connection: PostgresConnection, _ place: inout Place, until stop: StopFlag, took: () -> Void
    ) throws {
        try authenticator.readAnnouncements(of: log) { stop.isRaised }
        let scan = try ChainScan(log, authenticator: authenticator, client: name)
        defer { scan.close() }
        place.positions = try tables.positions(over: connection)
        for topic in tables.projection.topics {
            for partition in 0..<scan.partitions(of: topic) {
                let partition = TopicPartition(topic, partition)
                scan.follow(partition, from: place.positions[partition], since: since)
            }
        }
        while !stop.isRaised {
            try show(&place, over: scan)
            let positions = place.positions
            let batches = try scan.next(within: .milliseconds(250)).filter { positions[$0.partition] != $0.position }
            if !batches.isEmpty {
                guard case .taken = try tables.take(batches, after: positions, over: connection) else { return }
                took()
                for batch in batches {
                    place.positions[batch.partition] = batch.position
                    meter.took(batch)
                    for event in batch.late {
                        logger.error(
                            "an event was taken in before it was skipped: the tables must be made anew",
                            ["partition": .public(event.partition.description), "offset": .public(Int(event.offset))])
                    }
                }
            }
        }
    }
}

/// What `/metrics` tells of an attached projection.
private struct AttachedMeter: Sendable {
    private let applied: Labelled<Counter>
    private let void: Labelled<Counter>
    private let lag: Labelled<Gauge>
    private let name: String

    init(_ name: String, _ metrics: Metrics) {
        self.name = name
        let labels = ["projection", "topic", "partition"]
        applied = metrics.counters(
            "latchkey_attached_events_total", "Events that an attached projection has taken in here.", labels: labels)
        void = metrics.counters(
            "latchkey_attached_void_total", "Records that counted for nothing in what it reads.", labels: labels)
        lag = metrics.gauges(
            "latchkey_attached_lag", "Records that it had not taken in when that was looked at.", labels: labels)
    }

    func took(_ batch: ChainScan.Batch) {
        let (topic, partition) = (batch.partition.topic.rawValue, String(batch.partition.partition))
        applied.with(name, topic, partition).increment(by: batch.events.count)
        void.with(name, topic, partition).increment(by: batch.void.values.reduce(0, +))
    }

    func show(_ place: TopicPartition, behind count: Int64) {
        lag.with(name, place.topic.rawValue, String(place.partition)).set(Double(max(count, 0)))
    }
}
