import Crypto
public import EventLog
import EventSchema
import JSON
public import Runtime

/// Reads one partition of `replies` from its end, on a thread of its own, and gives each reply to the request that waits
/// for it. The connection to the log is made here, and made again when it breaks.
public final class ReplyReader: Component {
    /// This process, as reply addresses name it: 16 bytes.
    let process = Random.bytes(16)
    let pending: PendingReplies
    let link = LogLink()
    public let name = "replies"
    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let partitions: Int
    private let time: LogTime
    private let logger: Logger
    private let readiness: Readiness
    private let forged: Counter
    private let unreadable: Counter
    private let pause = Mailbox<Void>()

    /// What `/readyz` calls it.
    static let part = "replies"
    private static let shortestWait: Duration = .milliseconds(50)

    /// - Parameters:
    ///   - partitions: what the log must have, or this gateway would send commands where nobody looks.
    ///   - time: learns the log's clock from what this gateway appends.
    public init(
        log: any EventLog, authenticator: RecordAuthenticator, partitions: Int, time: LogTime, logger: Logger, metrics: Metrics,
        readiness: Readiness
    ) {
        self.log = log
        self.authenticator = authenticator
        self.partitions = partitions
        self.time = time
        self.logger = logger
        self.readiness = readiness
        pending = PendingReplies(metrics: metrics)
        let rejected = metrics.counters(
            "latchkey_gateway_replies_rejected_total", "Replies to this process that were not used.", labels: ["reason"])
        forged = rejected.with("forged")
        unreadable = rejected.with("unreadable")
        readiness.expect(Self.part)
    }

    /// Reads until it is told to stop. Ends the service where the log is other than it must be.
    public func run() async throws {
        let thread = WorkerThread(name: name) { [link, pause] in
            pause.wake()
            link.wake()
        } _: { [self] stop in
            try work(until: stop)
        }
        try await thread.run()
    }

    private func work(until stop: StopFlag) throws {
        var wait = Self.shortestWait
        while !stop.isRaised {
            do throws(LogError) {
                try session(until: stop) { wait = Self.shortestWait }
                if stop.isRaised { return }
                logger.warning("the connection to the log is made anew")
            } catch {
                guard error.passes else { throw error }
                logger.warning("the log is away", ["reason": .public(error.description)])
            }
            readiness.set(Self.part, ready: false, "no connection to the log")
            _ = pause.receive(within: wait * Double.random(in: 0.5...1))
            wait = min(wait * 2, .seconds(2))
        }
    }

    /// From one connection to its end.
    private func session(until stop: StopFlag, established: () -> Void) throws(LogError) {
        link.begin()
        let description = try log.describe()
        guard description.partitions == partitions else {
            throw LogError(
                .misconfigured, "the log has \(description.partitions) partitions, LATCHKEY_PARTITIONS is \(partitions)")
        }
        let producer = time.learning(from: try log.makeProducer(client: "gateway"))
        defer {
            link.dissolve()
            producer.flush(within: .seconds(3))
            producer.close()
        }
        let consumer = try log.makeConsumer(client: "gateway", group: nil)
        defer { consumer.close() }

        // Any partition will do, as long as the processes are spread over all of them.
        let replies = TopicPartition(.replies, Partitioner.partition(of: process, among: partitions))
        var next = try consumer.bounds(of: replies).upperBound
        consumer.follow(replies, from: next)
        let ends = LogLink.Ends(producer: producer, consumer: consumer, partitions: partitions, replies: replies.partition)
        var isEstablished = false
        var lastObstacle: String?
        while !stop.isRaised, !link.isGivenUp {
            link.probe.tryNowAndThen(over: producer) {
                .probe(of: replies, by: .gateway, authenticator)
            } ended: { [link] in
                link.wake()
            }
            for event in try consumer.poll(timeout: .milliseconds(500)) {
                switch event {
                case .records(_, let records):
                    for record in records { receive(record) }
                    if let last = records.last { next = last.offset + 1 }
                case .reachedEnd:
                    guard !isEstablished else { break }
                    isEstablished = true
                    established()
                    link.establish(ends)
                    readiness.set(Self.part, ready: true)
                case .interrupted:
                    consumer.follow(replies, from: next)
                case .outOfRange(_, _, let end):
                    // Retention, or a topic made anew. Whoever waits for what is gone gets a time-out.
                    next = end
                    consumer.follow(replies, from: end)
                case .assigned, .revoked:
                    break
                }
            }
            pending.sweep()
            let obstacle = consumer.isAvailable ? link.probe.isTaking ? nil : "the log takes no records" : "the log is away"
            if isEstablished, obstacle != lastObstacle {
                lastObstacle = obstacle
                readiness.set(Self.part, ready: obstacle == nil, obstacle ?? "")
                if let obstacle {
                    logger.warning("commands cannot be sent", ["reason": .public(obstacle)])
                } else {
                    logger.notice("commands can be sent again")
                }
            }
        }
    }

    private func receive(_ record: Record) {
        guard record.key == process else { return }
        guard authenticator.accepts(record) else { return reject(forged, "a reply is not authentic") }
        guard
            let address = record.header(HeaderName.replyTo).flatMap({ ReplyAddress(encoded: String(decoding: $0, as: UTF8.self)) }
            ),
            let type = record.header(HeaderName.type).map({ String(decoding: $0, as: UTF8.self) }),
            let reply = try? SchemaCodec.current.decode(Reply.self, type: type, data: record.value)
        else { return reject(unreadable, "a reply cannot be read") }
        pending.resolve(address.request, with: reply)
    }

    private func reject(_ counter: Counter, _ message: StaticString) {
        counter.increment()
        logger.warning(message)
    }
}
