internal import CKafka
internal import EventLog
internal import EventSchema
internal import Glibc
internal import Runtime
internal import Synchronization

/// Reads partitions at explicit offsets, and learns its share of a group's topic.
///
/// Reading and membership are two clients: the group decides who owns what, and a rebalance does not stop a reader that
/// follows all partitions. No offset of the group is ever read from on its own account.
final class KafkaConsumer: LogConsumer, @unchecked Sendable {
    // `followed`, `isDirty` and what belongs to them are used by the polling thread alone, as `LogConsumer` says.
    private let settings: KafkaSettings
    private let reader: KafkaHandle
    private let member: KafkaHandle?
    private let group: ConsumerGroup?
    private let readerQueue: OpaquePointer
    private let memberQueue: OpaquePointer?
    private let signal: Int32
    private let watch: KafkaWatch

    private var followed: [TopicPartition: Int64] = [:]
    private var isDirty = false
    private var hasMore = false
    private var share: [Int] = []
    private var outOfRange: Set<TopicPartition> = []
    private var isClosed = false

    init(_ settings: KafkaSettings, client: String, group: ConsumerGroup?) throws(LogError) {
        self.settings = settings
        self.group = group
        signal = latchkey_signal_open()
        guard signal >= 0 else { throw LogError(.unavailable, "no file descriptor is left for a consumer") }
        reader = try KafkaHandle(.consumer, settings.reader, settings.names, client: client, events: 0)
        rd_kafka_poll_set_consumer(reader.pointer)
        readerQueue = rd_kafka_queue_get_consumer(reader.pointer)
        var one: UInt64 = 1
        rd_kafka_queue_io_event_enable(readerQueue, signal, &one, 8)
        if let group {
            let member = try KafkaHandle(
                .consumer, settings.member(of: group.name), settings.names, client: client, events: RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR)
            rd_kafka_poll_set_consumer(member.pointer)
            let queue = rd_kafka_queue_get_consumer(member.pointer)
            rd_kafka_queue_io_event_enable(queue, signal, &one, 8)
            self.member = member
            memberQueue = queue
            let topics = rd_kafka_topic_partition_list_new(1)
            rd_kafka_topic_partition_list_add(topics, settings.names.name(group.topic), -1)
            let code = rd_kafka_subscribe(member.pointer, topics)
            rd_kafka_topic_partition_list_destroy(topics)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw LogError(kafka: code, "joining the group \(group.name)") }
        } else {
            member = nil
            memberQueue = nil
        }
        let signal = signal
        watch = KafkaWatch(reader) { latchkey_signal_raise(signal) }
    }

    var isAvailable: Bool { watch.isAvailable }

    func wake() { latchkey_signal_raise(signal) }

    // MARK: Following

    func follow(_ partition: TopicPartition, from offset: Int64) {
        followed[partition] = offset
        outOfRange.remove(partition)
        isDirty = true
    }

    func unfollow(_ partition: TopicPartition) {
        guard followed.removeValue(forKey: partition) != nil else { return }
        outOfRange.remove(partition)
        isDirty = true
    }

    /// librdkafka takes the whole assignment at once; partitions that were followed before go on where they were.
    private func assign() throws(LogError) {
        guard isDirty else { return }
        isDirty = false
        let code = PartitionList(followed, reader.names).withPointer { rd_kafka_assign(reader.pointer, $0) }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw LogError(kafka: code, "choosing partitions") }
        watch.follow(Set(followed.keys))
    }

    // MARK: Polling

    func poll(timeout: Duration) throws(LogError) -> [LogEvent] {
        guard !isClosed else { throw LogError(.closed, "the consumer was closed") }
        try assign()
        var events = try drain()
        if events.isEmpty, !hasMore {
            wait(timeout)
            try assign()
            events = try drain()
        }
        return events
    }

    private func wait(_ timeout: Duration) {
        let milliseconds = timeout.components.seconds * 1_000 + timeout.components.attoseconds / 1_000_000_000_000_000
        var descriptor = pollfd(fd: signal, events: Int16(POLLIN), revents: 0)
        Glibc.poll(&descriptor, 1, Int32(clamping: milliseconds))
    }

    private func drain() throws(LogError) -> [LogEvent] {
        // Before the queues are looked at, so that what comes meanwhile signals again.
        latchkey_signal_clear(signal)
        var events: [LogEvent] = []
        drainMember(into: &events)
        for partition in watch.takeInterrupted() where followed[partition] != nil { events.append(.interrupted(partition)) }
        drainReader(into: &events)
        for partition in outOfRange {
            guard let bounds = try? bounds(of: partition) else { continue }
            outOfRange.remove(partition)
            events.append(.outOfRange(partition, begin: bounds.lowerBound, end: bounds.upperBound))
        }
        return events
    }

    private func drainMember(into events: inout [LogEvent]) {
        guard let member, let memberQueue else { return }
        while let event = rd_kafka_queue_poll(memberQueue, 0) {
            defer { rd_kafka_event_destroy(event) }
            guard rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE else { continue }
            if !share.isEmpty {
                events.append(.revoked(share))
                for partition in share { if let group { unfollow(TopicPartition(group.topic, partition)) } }
                share = []
            }
            if rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
                // The share is read by the reader: the member itself is given nothing to fetch.
                _ = PartitionList(EmptyCollection<TopicPartition>(), member.names).withPointer { rd_kafka_assign(member.pointer, $0) }
                if let list = rd_kafka_event_topic_partition_list(event) {
                    share = (0..<Int(list.pointee.cnt)).map { Int(list.pointee.elems[$0].partition) }.sorted()
                }
                if !share.isEmpty { events.append(.assigned(share)) }
            } else {
                rd_kafka_assign(member.pointer, nil)
            }
        }
    }

    /// At most so many records come with one poll.
    private static let recordsPerPoll = 2_000

    private func drainReader(into events: inout [LogEvent]) {
        var records: [TopicPartition: [Record]] = [:]
        var order: [TopicPartition] = []
        var count = 0
        hasMore = false
        while let message = rd_kafka_consumer_poll(reader.pointer, 0) {
            defer { rd_kafka_message_destroy(message) }
            guard let name = latchkey_message_topic(message), let topic = reader.names.topic(name) else { continue }
            let partition = TopicPartition(topic, Int(message.pointee.partition))
            guard let next = followed[partition] else { continue }
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                guard message.pointee.offset >= next else { continue }
                followed[partition] = message.pointee.offset + 1
                if records[partition] == nil { order.append(partition) }
                records[partition, default: []].append(Record(partition, message))
                count += 1
            case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                if let delivered = records.removeValue(forKey: partition) { events.append(.records(partition, delivered)) }
                events.append(.reachedEnd(partition, end: message.pointee.offset))
            case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
                outOfRange.insert(partition)
            default:
                events.append(.interrupted(partition))
            }
            if count >= Self.recordsPerPoll {
                hasMore = true
                break
            }
        }
        if count > 0 { watch.sawRecords() }
        for partition in order { if let delivered = records[partition] { events.append(.records(partition, delivered)) } }
    }

    // MARK: Offsets

    func bounds(of partition: TopicPartition) throws(LogError) -> Range<Int64> {
        let reader = reader
        let answer: (rd_kafka_resp_err_t, Int64, Int64)? = KafkaThread.run(within: .seconds(6)) {
            var (low, high): (Int64, Int64) = (0, 0)
            let code = rd_kafka_query_watermark_offsets(
                reader.pointer, reader.names.name(partition.topic), Int32(partition.partition), &low, &high, 5_000)
            return (code, low, high)
        }
        guard let (code, low, high) = answer else { throw LogError(.unavailable, "Kafka did not say where \(partition) ends") }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw LogError(kafka: code, "asking where \(partition) ends") }
        return low..<max(low, high)
    }

    func offset(of partition: TopicPartition, at time: Timestamp) throws(LogError) -> Int64 {
        let reader = reader
        let answer: (rd_kafka_resp_err_t, Int64)? = KafkaThread.run(within: .seconds(6)) {
            let list = PartitionList([partition: time.milliseconds], reader.names)
            let code = list.withPointer { rd_kafka_offsets_for_times(reader.pointer, $0, 5_000) }
            return (code == RD_KAFKA_RESP_ERR_NO_ERROR ? list[0].error : code, list[0].offset)
        }
        guard let (code, offset) = answer else { throw LogError(.unavailable, "Kafka did not look a time up in \(partition)") }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw LogError(kafka: code, "looking a time up in \(partition)") }
        return offset >= 0 ? offset : try bounds(of: partition).upperBound
    }

    func committed(_ partitions: [TopicPartition]) throws(LogError) -> [TopicPartition: CommittedOffset] {
        guard let member else { return [:] }
        let list = PartitionList(partitions, member.names)
        let code = list.withPointer { rd_kafka_committed(member.pointer, $0, 5_000) }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw LogError(kafka: code, "asking for committed positions") }
        var committed: [TopicPartition: CommittedOffset] = [:]
        for index in 0..<list.count {
            let entry = list[index]
            guard let partition = entry.partition, entry.offset >= 0 else { continue }
            committed[partition] = CommittedOffset(offset: entry.offset, metadata: entry.metadata ?? "")
        }
        return committed
    }

    func commit(_ offsets: [TopicPartition: CommittedOffset]) {
        guard let member else { return }
        let list = PartitionList(offsets.mapValues(\.offset), member.names)
        for index in 0..<list.count {
            guard let partition = list[index].partition, let metadata = offsets[partition]?.metadata, !metadata.isEmpty else { continue }
            list.setMetadata(metadata, at: index)
        }
        _ = list.withPointer { rd_kafka_commit(member.pointer, $0, 1) }
    }

    // MARK: Ending

    func close() {
        guard !isClosed else { return }
        isClosed = true
        watch.stop()
        let (readerQueue, member, memberQueue) = (Queue(readerQueue), member, memberQueue.map(Queue.init))
        // Says good-bye to the group, so that the others need not wait for the session to end.
        _ = KafkaThread.run(within: .seconds(3)) {
            rd_kafka_queue_io_event_enable(readerQueue.pointer, -1, nil, 0)
            rd_kafka_queue_destroy(readerQueue.pointer)
            guard let member, let memberQueue else { return true }
            rd_kafka_queue_io_event_enable(memberQueue.pointer, -1, nil, 0)
            rd_kafka_queue_destroy(memberQueue.pointer)
            rd_kafka_consumer_close(member.pointer)
            return true
        }
    }

    deinit {
        close()
        Glibc.close(signal)
    }

    /// A queue on its way to the thread that ends it.
    private struct Queue: @unchecked Sendable {
        // Used by that thread alone.
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
    }
}

extension Record {
    fileprivate init(_ partition: TopicPartition, _ message: UnsafeMutablePointer<rd_kafka_message_t>) {
        let content = message.pointee
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let time = rd_kafka_message_timestamp(message, &kind)
        var headers: [Header] = []
        var list: OpaquePointer?
        if rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list {
            let count = rd_kafka_header_cnt(list)
            headers.reserveCapacity(count)
            var name: UnsafePointer<CChar>?
            var value: UnsafeRawPointer?
            var size = 0
            for index in 0..<count where rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR {
                headers.append(
                    Header(name.map { String(cString: $0) } ?? "", Array(UnsafeRawBufferPointer(start: value, count: size))))
            }
        }
        self.init(
            partition: partition, offset: content.offset, time: Timestamp(milliseconds: time),
            key: Array(UnsafeRawBufferPointer(start: content.key, count: content.key_len)), headers: headers,
            value: Array(UnsafeRawBufferPointer(start: content.payload, count: content.len)))
    }
}
