internal import CKafka
internal import EventLog
internal import EventSchema
internal import Synchronization

/// Reads partitions at explicit offsets, and learns its share of a group's topic.
///
/// Reading and membership are two clients: the group decides who owns what, and a rebalance does not stop a reader that
/// follows all partitions. No offset of the group is ever read from on its own account.
final class KafkaConsumer: LogConsumer, @unchecked Sendable {
    // Everything that varies is used by the polling thread alone, as `LogConsumer` says, except what is atomic.
    private let reader: KafkaHandle
    private let member: KafkaMember?
    private let positions: KafkaPositions?
    private let readerQueue: OpaquePointer
    private let signal: KafkaSignal
    private let watch: KafkaWatch
    private let isWoken = Atomic(false)

    /// The next offset of every followed partition.
    private var followed: [TopicPartition: Int64] = [:]
    /// What librdkafka was told to read, and what it must be told before the next look at its queue.
    private var assigned: Set<TopicPartition> = []
    private var changed: Set<TopicPartition> = []
    private var hasMore = false
    private var outOfRange: Set<TopicPartition> = []
    /// Partitions of which no end was told since they were followed. Their first end is looked at twice, see `confirmEnds`.
    private var endless: Set<TopicPartition> = []
    /// Their ends by what the brokers that were read from said.
    private var seenEnds: [TopicPartition: Int64] = [:]
    private var isClosed = false

    init(_ settings: KafkaSettings, client: String, group: ConsumerGroup?) throws(LogError) {
        let signal = try KafkaSignal()
        self.signal = signal
        let reader = try KafkaHandle(
            .consumer, settings.reader(of: group?.name), settings.names, client: client, events: 0)
        self.reader = reader
        rd_kafka_poll_set_consumer(reader.pointer)
        readerQueue = rd_kafka_queue_get_consumer(reader.pointer)
        signal.watch(readerQueue)
        if let group {
            do throws(LogError) { member = try KafkaMember(settings, client: client, group: group, signal) } catch {
                rd_kafka_queue_io_event_enable(readerQueue, -1, nil, 0)
                rd_kafka_queue_destroy(readerQueue)
                throw error
            }
            positions = KafkaPositions(reader)
        } else {
            member = nil
            positions = nil
        }
        watch = KafkaWatch(reader) { signal.raise() }
    }

    var isAvailable: Bool { watch.isAvailable }

    func wake() {
        isWoken.store(true, ordering: .sequentiallyConsistent)
        signal.raise()
    }

    // MARK: Following

    func follow(_ partition: TopicPartition, from offset: Int64) {
        followed[partition] = offset
        outOfRange.remove(partition)
        endless.insert(partition)
        seenEnds[partition] = nil
        changed.insert(partition)
    }

    func unfollow(_ partition: TopicPartition) {
        guard followed.removeValue(forKey: partition) != nil else { return }
        outOfRange.remove(partition)
        endless.remove(partition)
        seenEnds[partition] = nil
        changed.insert(partition)
    }

    /// Tells librdkafka all changes since the last time together. Other partitions keep what was fetched for them. Records
    /// of before that still wait in its queue are dropped by it.
    private func assign() throws(LogError) {
        guard !changed.isEmpty else { return }
        let ended = changed.intersection(assigned)
        let begun = followed.filter { changed.contains($0.key) }
        changed = []
        if !ended.isEmpty {
            let list = PartitionList(ended, reader.names)
            try check(list.withPointer { rd_kafka_incremental_unassign(reader.pointer, $0) })
        }
        if !begun.isEmpty {
            let list = PartitionList(begun, reader.names)
            try check(list.withPointer { rd_kafka_incremental_assign(reader.pointer, $0) })
        }
        assigned = Set(followed.keys)
        watch.follow(assigned)
    }

    private func check(_ error: OpaquePointer?) throws(LogError) {
        guard let error else { return }
        defer { rd_kafka_error_destroy(error) }
        throw LogError(kafka: rd_kafka_error_code(error), "choosing partitions")
    }

    // MARK: Polling

    /// A member that waits long looks at its group so often: to the group it must not seem to have stopped.
    private static let longestWait = Duration.milliseconds(200)

    func poll(timeout: Duration) throws(LogError) -> [LogEvent] {
        guard !isClosed else { throw LogError(.closed, "the consumer was closed") }
        let deadline = ContinuousClock.now + timeout
        while true {
            try assign()
            let events = drain()
            let remaining = deadline - .now
            // A wake ends this poll, whether it came before or while it waits.
            if isWoken.exchange(false, ordering: .sequentiallyConsistent) || !events.isEmpty || hasMore || remaining <= .zero {
                return events
            }
            let isFree = member == nil && outOfRange.isEmpty && seenEnds.isEmpty
            signal.wait(isFree ? remaining : min(remaining, Self.longestWait))
        }
    }

    private func drain() -> [LogEvent] {
        // Before the queues are looked at, so that what comes meanwhile signals again.
        signal.clear()
        var events: [LogEvent] = []
        for change in member?.changes() ?? [] {
            if case .revoked(let partitions) = change, let topic = member?.topic {
                for partition in partitions { unfollow(TopicPartition(topic, partition)) }
            }
            events.append(change)
        }
        for partition in watch.takeInterrupted() where followed[partition] != nil { events.append(.interrupted(partition)) }
        drainReader(into: &events)
        confirmEnds(into: &events)
        for partition in outOfRange {
            guard let bounds = try? bounds(of: partition) else { continue }
            outOfRange.remove(partition)
            events.append(.outOfRange(partition, begin: bounds.lowerBound, end: bounds.upperBound))
        }
        return events
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
            guard let name = latchkey_message_topic(message), let topic = reader.names.topic(name) else {
                if message.pointee.err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN { watch.lostContact() }
                continue
            }
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
                if let delivered = records.removeValue(forKey: partition) {
                    order.removeAll { $0 == partition }
                    events.append(.records(partition, delivered))
                }
                if endless.contains(partition) {
                    seenEnds[partition] = message.pointee.offset
                } else {
                    events.append(.reachedEnd(partition, end: message.pointee.offset))
                }
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

    /// How long one question about an end may hold up everything else. What has no answer is asked again.
    private static let endPatience = Duration.milliseconds(500)

    /// A broker that has just become the leader does not know yet how much of what it holds is committed, and tells readers of
    /// an end that lies before what was read from its predecessor. Asked for the offset itself, it answers only once it knows
    /// (KIP-207). Behind the first end no further one can lie before what was read.
    private func confirmEnds(into events: inout [LogEvent]) {
        for (partition, end) in seenEnds {
            let isPassed = followed[partition].map { $0 > end } ?? true
            if !isPassed {
                guard let bounds = try? reader.bounds(of: partition, within: Self.endPatience) else { break }
                if bounds.upperBound <= end {
                    endless.remove(partition)
                    events.append(.reachedEnd(partition, end: end))
                }
            }
            // Otherwise there are records to come, and an end behind them.
            seenEnds[partition] = nil
        }
    }

    // MARK: Offsets

    func bounds(of partition: TopicPartition) throws(LogError) -> Range<Int64> { try reader.bounds(of: partition) }

    func offset(of partition: TopicPartition, at time: Timestamp) throws(LogError) -> Int64 {
        if let offset = try reader.offset(of: partition, at: time) { return offset }
        return try bounds(of: partition).upperBound
    }

    func committed(_ partitions: [TopicPartition]) throws(LogError) -> [TopicPartition: CommittedOffset] {
        try positions?.committed(partitions) ?? [:]
    }

    func commit(_ offsets: [TopicPartition: CommittedOffset]) { positions?.commit(offsets) }

    // MARK: Ending

    func close() {
        guard !isClosed else { return }
        isClosed = true
        watch.stop()
        positions?.close(within: .seconds(2))
        // The queue's end and the signal's: nothing raises it after that.
        rd_kafka_queue_io_event_enable(readerQueue, -1, nil, 0)
        rd_kafka_queue_destroy(readerQueue)
        member?.leave(within: .seconds(3))
    }

    deinit { close() }
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
            for index in 0..<count where rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR
            {
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
