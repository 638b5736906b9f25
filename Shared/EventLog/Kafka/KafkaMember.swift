internal import CKafka
internal import EventLog
internal import EventSchema

/// A member of a group: a client that learns its share of the group's topic, and reads nothing.
///
/// librdkafka sends heartbeats from a thread of its own, so a process that stops is given up after `session.timeout.ms`, and
/// one that lives but does not look at its share any more after `max.poll.interval.ms`.
final class KafkaMember {
    let topic: Topic
    private let handle: KafkaHandle
    private let queue: OpaquePointer
    private let signal: KafkaSignal
    private var share: [Int] = []
    private var hasLeft = false

    init(_ settings: KafkaSettings, client: String, group: ConsumerGroup, _ signal: KafkaSignal) throws(LogError) {
        topic = group.topic
        self.signal = signal
        let handle = try KafkaHandle(
            .consumer, settings.member(of: group.name), settings.names, client: client,
            events: RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR)
        self.handle = handle
        rd_kafka_poll_set_consumer(handle.pointer)
        queue = rd_kafka_queue_get_consumer(handle.pointer)
        signal.watch(queue)
        let topics = PartitionList([TopicPartition(group.topic, -1)], settings.names)
        let code = topics.withPointer { rd_kafka_subscribe(handle.pointer, $0) }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw LogError(kafka: code, "joining the group \(group.name)") }
    }

    /// What became of the share since the last look. A look is a sign of life.
    func changes() -> [LogEvent] {
        var changes: [LogEvent] = []
        while !hasLeft, let event = rd_kafka_queue_poll(queue, 0) {
            defer { rd_kafka_event_destroy(event) }
            guard rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE else { continue }
            if !share.isEmpty {
                changes.append(.revoked(share))
                share = []
            }
            if rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
                // The share is read by the reader: the member itself is given nothing to fetch.
                _ = PartitionList(EmptyCollection<TopicPartition>(), handle.names).withPointer {
                    rd_kafka_assign(handle.pointer, $0)
                }
                if let list = rd_kafka_event_topic_partition_list(event) {
                    share = (0..<Int(list.pointee.cnt)).map { Int(list.pointee.elems[$0].partition) }.sorted()
                }
                if !share.isEmpty { changes.append(.assigned(share)) }
            } else {
                rd_kafka_assign(handle.pointer, nil)
            }
        }
        return changes
    }

    /// Says good-bye to the group, so that the others need not wait for the session to end. That can take as long as a broker
    /// does not answer, so it goes on without us after a while.
    func leave(within timeout: Duration) {
        guard !hasLeft else { return }
        hasLeft = true
        rd_kafka_queue_io_event_enable(queue, -1, nil, 0)
        rd_kafka_queue_destroy(queue)
        let handle = handle
        _ = KafkaThread.run(within: timeout) { rd_kafka_consumer_close(handle.pointer) }
    }

    deinit { leave(within: .zero) }
}
