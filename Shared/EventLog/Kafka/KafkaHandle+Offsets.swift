internal import CKafka
internal import EventLog
internal import EventSchema

/// Questions about offsets. Each is asked again, up to five seconds unless told otherwise, while a partition has no leader or the one that is
/// asked is none any more.
extension KafkaHandle {
    private static let patience = Duration.seconds(5)

    func bounds(of partition: TopicPartition, within patience: Duration = patience) throws(LogError) -> Range<Int64> {
        try ask("where \(partition) ends", within: patience) { handle, milliseconds in
            var (low, high): (Int64, Int64) = (0, 0)
            let code = rd_kafka_query_watermark_offsets(
                handle.pointer, handle.names.name(partition.topic), Int32(partition.partition), &low, &high, milliseconds)
            return (code, low..<max(low, high))
        }
    }

    /// The first offset appended at or after `time`; `nil` if there is none.
    func offset(of partition: TopicPartition, at time: Timestamp) throws(LogError) -> Int64? {
        // Negative times stand for the ends of a partition.
        let time = max(0, time.milliseconds)
        let offset = try ask("for a time in \(partition)", within: Self.patience) { handle, milliseconds in
            let list = PartitionList([partition: time], handle.names)
            let code = list.withPointer { rd_kafka_offsets_for_times(handle.pointer, $0, milliseconds) }
            return (code == RD_KAFKA_RESP_ERR_NO_ERROR ? list[0].error : code, list[0].offset)
        }
        return offset >= 0 ? offset : nil
    }

    /// librdkafka does not always keep to its time-out, so this runs on a thread that may be left behind.
    private func ask<Value: Sendable>(
        _ what: String, within patience: Duration,
        _ question: @escaping @Sendable (KafkaHandle, Int32) -> (rd_kafka_resp_err_t, Value)
    ) throws(LogError) -> Value {
        let deadline = ContinuousClock.now + patience
        let answer: (rd_kafka_resp_err_t, Value)? = KafkaThread.run(within: patience + .seconds(1)) {
            while true {
                let remaining = (deadline - .now).components
                let milliseconds = max(1, remaining.seconds * 1_000 + remaining.attoseconds / 1_000_000_000_000_000)
                let (code, value) = question(self, Int32(clamping: milliseconds))
                guard Self.passes(code), ContinuousClock.now < deadline else { return (code, value) }
                KafkaThread.rest(.milliseconds(50))
            }
        }
        guard let (code, value) = answer else { throw LogError(.unavailable, "Kafka did not answer when asked \(what)") }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw LogError(kafka: code, "asking \(what)") }
        return value
    }

    /// Whether an error passes by itself: a leader changes, or a topic is so new that not all brokers know it.
    private static func passes(_ code: rd_kafka_resp_err_t) -> Bool {
        switch code {
        case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH,
            RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH,
            RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
            RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
            RD_KAFKA_RESP_ERR__TRANSPORT:
            true
        default: false
        }
    }
}
