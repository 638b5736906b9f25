internal import EventLog
internal import EventSchema
internal import Runtime
internal import Synchronization

/// Looks now and then where the partitions end that are read here, on a thread of its own: how far behind this instance is.
final class LagMeter: Sendable {
    private let log: any EventLog
    private let settings: LoopSettings
    private let status: @Sendable () -> LoopStatus
    private let ends = Mutex<[TopicPartition: Int64]>([:])
    private let pause = Mailbox<Never>()

    /// Each look costs the log two requests for every partition.
    private static let interval: Duration = .seconds(15)

    init(log: any EventLog, settings: LoopSettings, status: @escaping @Sendable () -> LoopStatus) {
        self.log = log
        self.settings = settings
        self.status = status
    }

    func start() -> WorkerThread {
        let pause = pause
        let thread = WorkerThread(name: "lag", wake: { pause.wake() }, work)
        thread.start()
        return thread
    }

    func samples(_ status: LoopStatus) -> [Sample] {
        let ends = ends.withLock { $0 }
        return positions(status).sorted { $0.key < $1.key }.compactMap { partition, offset in
            guard let end = ends[partition] else { return nil }
            return Sample(
                "latchkey_log_lag", "Records of the partition that were not read when it was last looked at.", .gauge,
                labels: [("topic", partition.topic.rawValue), ("partition", String(partition.partition))],
                value: Double(max(end - offset, 0)))
        }
    }

    /// The next offset of every partition that is read here.
    private func positions(_ status: LoopStatus) -> [TopicPartition: Int64] {
        var positions: [TopicPartition: Int64] = [:]
        for (partition, position) in status.positions { positions[TopicPartition(settings.events, partition)] = position.offset }
        for (partition, shown) in status.partitions {
            guard let inboxes = shown.inboxes else { continue }
            for topic in settings.inboxes { positions[TopicPartition(topic, partition)] = inboxes.offset(of: topic) }
        }
        return positions
    }

    private func work(until stop: StopFlag) {
        var consumer: (any LogConsumer)?
        defer { consumer?.close() }
        while !stop.isRaised {
            _ = pause.receive(within: Self.interval)
            guard !stop.isRaised else { return }
            do throws(LogError) {
                if consumer == nil { consumer = try log.makeConsumer(client: "lag", group: nil) }
                var found: [TopicPartition: Int64] = [:]
                for partition in positions(status()).keys { found[partition] = try consumer?.bounds(of: partition).upperBound }
                ends.withLock { [found] in $0 = found }
            } catch {
                // The loop itself says that the log is away; without it nothing is known of its ends.
                consumer?.close()
                consumer = nil
                ends.withLock { $0 = [:] }
            }
        }
    }
}
