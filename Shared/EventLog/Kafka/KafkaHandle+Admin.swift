internal import CKafka
internal import EventLog
internal import EventSchema

/// Metadata and topics.
extension KafkaHandle {
    func partitionCounts() throws(LogError) -> [Topic: Int] {
        try withMetadata { metadata in
            var counts: [Topic: Int] = [:]
            for index in 0..<Int(metadata.topic_cnt) {
                let entry = metadata.topics[index]
                if entry.err == RD_KAFKA_RESP_ERR_NO_ERROR, let topic = entry.topic.flatMap({ names.topic($0) }) {
                    counts[topic] = Int(entry.partition_cnt)
                }
            }
            return counts
        }
    }

    func brokerCount() throws(LogError) -> Int { try withMetadata { Int($0.broker_cnt) } }

    /// The leader of every partition of the topics that this client reads.
    func leaders() throws(LogError) -> [TopicPartition: Int32] {
        try withMetadata(ofAll: false) { metadata in
            var leaders: [TopicPartition: Int32] = [:]
            for index in 0..<Int(metadata.topic_cnt) {
                let entry = metadata.topics[index]
                guard let name = entry.topic, let topic = names.topic(name) else { continue }
                for index in 0..<Int(entry.partition_cnt) {
                    let partition = entry.partitions[index]
                    leaders[TopicPartition(topic, Int(partition.id))] = partition.leader
                }
            }
            return leaders
        }
    }

    private func withMetadata<Value>(ofAll: Bool = true, _ body: (rd_kafka_metadata) -> Value) throws(LogError) -> Value {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(pointer, ofAll ? 1 : 0, nil, &metadata, 5_000)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { throw LogError(kafka: code, "asking Kafka for its topics") }
        defer { rd_kafka_metadata_destroy(metadata) }
        return body(metadata.pointee)
    }

    /// Creates topics, all in one request. Those that another has created meanwhile are as good.
    func create(_ topics: [(topic: Topic, partitions: Int)], replicas: Int) throws(LogError) {
        var message = [CChar](repeating: 0, count: 512)
        var new: [OpaquePointer?] = []
        defer { for topic in new { rd_kafka_NewTopic_destroy(topic) } }
        for (topic, partitions) in topics {
            guard
                let entry = rd_kafka_NewTopic_new(names.name(topic), Int32(partitions), Int32(replicas), &message, message.count)
            else { throw LogError(.misconfigured, "the topic \(topic.rawValue) cannot be described: \(text(message))") }
            new.append(entry)
            for (name, value) in Self.configuration(of: topic, replicas: replicas) {
                guard rd_kafka_NewTopic_set_config(entry, name, value) == RD_KAFKA_RESP_ERR_NO_ERROR else {
                    throw LogError(.misconfigured, "the topic \(topic.rawValue) cannot have \(name)")
                }
            }
        }
        guard let queue = rd_kafka_queue_new(pointer),
            let options = rd_kafka_AdminOptions_new(pointer, RD_KAFKA_ADMIN_OP_CREATETOPICS)
        else { throw LogError(.unavailable, "out of memory") }
        defer {
            rd_kafka_AdminOptions_destroy(options)
            rd_kafka_queue_destroy(queue)
        }
        rd_kafka_AdminOptions_set_operation_timeout(options, 15_000, &message, message.count)
        rd_kafka_CreateTopics(pointer, &new, new.count, options, queue)
        guard let event = rd_kafka_queue_poll(queue, 60_000) else {
            throw LogError(.unavailable, "creating topics took over a minute")
        }
        defer { rd_kafka_event_destroy(event) }
        guard rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw LogError(kafka: rd_kafka_event_error(event), "creating topics")
        }
        var count = 0
        let results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)
        for index in 0..<count {
            let code = rd_kafka_topic_result_error(results?[index])
            if code != RD_KAFKA_RESP_ERR_NO_ERROR, code != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS {
                let name = rd_kafka_topic_result_name(results?[index]).map { String(cString: $0) } ?? "?"
                throw LogError(kafka: code, "creating the topic \(name)")
            }
        }
    }

    /// How topics stamp their records (`message.timestamp.type`), as far as brokers tell it within a second.
    func timestampTypes() -> [Topic: String] {
        var resources = Topic.allCases.map { rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, names.name($0)) }
        defer { for resource in resources { rd_kafka_ConfigResource_destroy(resource) } }
        guard let queue = rd_kafka_queue_new(pointer),
            let options = rd_kafka_AdminOptions_new(pointer, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS)
        else { return [:] }
        defer {
            rd_kafka_AdminOptions_destroy(options)
            rd_kafka_queue_destroy(queue)
        }
        var message = [CChar](repeating: 0, count: 512)
        rd_kafka_AdminOptions_set_request_timeout(options, 1_000, &message, message.count)
        rd_kafka_DescribeConfigs(pointer, &resources, resources.count, options, queue)
        guard let event = rd_kafka_queue_poll(queue, 2_000) else { return [:] }
        defer { rd_kafka_event_destroy(event) }
        guard rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR else { return [:] }
        var types: [Topic: String] = [:]
        var count = 0
        let described = rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &count)
        for resource in UnsafeBufferPointer(start: described, count: count) {
            guard let topic = rd_kafka_ConfigResource_name(resource).flatMap({ names.topic($0) }) else { continue }
            var count = 0
            let entries = rd_kafka_ConfigResource_configs(resource, &count)
            for entry in UnsafeBufferPointer(start: entries, count: count) {
                guard let name = rd_kafka_ConfigEntry_name(entry), String(cString: name) == Self.timestampType else { continue }
                types[topic] = rd_kafka_ConfigEntry_value(entry).map { String(cString: $0) }
            }
        }
        return types
    }

    private static let timestampType = "message.timestamp.type"
    static let stampedByLog = "LogAppendTime"

    /// Events for ever, commands and replies for an hour, everything stamped by the log and never chosen from outdated
    /// replicas.
    private static func configuration(of topic: Topic, replicas: Int) -> [(String, String)] {
        let keepsForEver = topic.kind == .events || topic.kind == .keys
        return [
            ("cleanup.policy", "delete"), ("retention.ms", keepsForEver ? "-1" : "3600000"), ("retention.bytes", "-1"),
            (timestampType, stampedByLog), ("min.insync.replicas", replicas >= 3 ? "2" : "1"),
            ("unclean.leader.election.enable", "false"), ("max.message.bytes", "2000000"),
            ("segment.ms", keepsForEver ? "604800000" : "600000"),
        ]
    }
}
