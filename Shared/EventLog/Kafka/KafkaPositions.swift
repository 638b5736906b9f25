internal import CKafka
internal import EventLog
internal import EventSchema
internal import Runtime
internal import Synchronization

/// The committed positions of a group.
///
/// They stand under a group of their own, which has no members: whoever decides a partition may commit, in whatever state
/// the membership is just now, and partitions of topics that are not shared out have positions too. Nothing is lost by that:
/// a position only saves time, so an outdated member may overwrite it.
final class KafkaPositions: Sendable {
    private struct State: Sendable {
        /// What was committed here and is not acknowledged: it is seen at once.
        var unacknowledged: [TopicPartition: CommittedOffset] = [:]
        var isClosed = false
        var isRunning = false
    }

    private let handle: KafkaHandle
    private let state = Mutex(State())
    private let ending = Mailbox<Never>()

    /// `handle` is a client whose group is the one of the positions.
    init(_ handle: KafkaHandle) {
        self.handle = handle
    }

    /// Returns at once. What cannot be committed is tried again until it can, or something newer takes its place.
    func commit(_ offsets: [TopicPartition: CommittedOffset]) {
        guard !offsets.isEmpty else { return }
        let starts = state.withLock { state in
            guard !state.isClosed else { return false }
            state.unacknowledged.merge(offsets) { $1 }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { KafkaThread.start("kafka-commit") { self.run() } }
    }

    private func run() {
        while true {
            let offsets: [TopicPartition: CommittedOffset]? = state.withLock { state in
                guard !state.isClosed, !state.unacknowledged.isEmpty else {
                    state.isRunning = false
                    return nil
                }
                return state.unacknowledged
            }
            guard let offsets else { return }
            guard store(offsets) == RD_KAFKA_RESP_ERR_NO_ERROR else {
                _ = ending.receive(within: .milliseconds(200))
                continue
            }
            state.withLock { state in
                for (partition, offset) in offsets where state.unacknowledged[partition] == offset {
                    state.unacknowledged[partition] = nil
                }
            }
        }
    }

    private func store(_ offsets: [TopicPartition: CommittedOffset]) -> rd_kafka_resp_err_t {
        let list = PartitionList(offsets.mapValues(\.offset), handle.names)
        for index in 0..<list.count {
            guard let partition = list[index].partition, let metadata = offsets[partition]?.metadata, !metadata.isEmpty else {
                continue
            }
            list.setMetadata(metadata, at: index)
        }
        return list.withPointer { rd_kafka_commit(handle.pointer, $0, 0) }
    }

    func committed(_ partitions: [TopicPartition]) throws(LogError) -> [TopicPartition: CommittedOffset] {
        // Taken first: what is acknowledged meanwhile is in the answer or here.
        let own = state.withLock { $0.unacknowledged }
        let handle = handle
        let answer: (rd_kafka_resp_err_t, [TopicPartition: CommittedOffset])? = KafkaThread.run(within: .seconds(6)) {
            let list = PartitionList(partitions, handle.names)
            let code = list.withPointer { rd_kafka_committed(handle.pointer, $0, 5_000) }
            var committed: [TopicPartition: CommittedOffset] = [:]
            for index in 0..<list.count {
                let entry = list[index]
                guard let partition = entry.partition, entry.offset >= 0 else { continue }
                committed[partition] = CommittedOffset(offset: entry.offset, metadata: entry.metadata ?? "")
            }
            return (code, committed)
        }
        guard let (code, committed) = answer else { throw LogError(.unavailable, "Kafka did not tell committed positions") }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw LogError(kafka: code, "asking for committed positions") }
        return committed.merging(own.filter { partitions.contains($0.key) }) { $1 }
    }

    /// Waits a moment for what is not yet acknowledged.
    func close(within timeout: Duration) {
        let deadline = ContinuousClock.now + timeout
        while state.withLock({ $0.isRunning }), ContinuousClock.now < deadline { KafkaThread.rest(.milliseconds(2)) }
        state.withLock { $0.isClosed = true }
        ending.close()
    }
}
