internal import Crypto
public import EventLog
internal import EventSchema
internal import JSON

/// The log on Apache Kafka, through librdkafka.
public struct KafkaLog: EventLog {
    let settings: KafkaSettings

    public init(_ settings: KafkaSettings) { self.settings = settings }

    public func makeProducer(client: String) throws(LogError) -> any LogProducer {
        try KafkaProducer(settings, client: client)
    }

    public func makeConsumer(client: String, group: ConsumerGroup?) throws(LogError) -> any LogConsumer {
        try KafkaConsumer(settings, client: client, group: group)
    }

    /// The id stands in the first record of `keys`.
    public func describe() throws(LogError) -> LogDescription {
        let partitions = try countPartitions()
        let consumer = try KafkaConsumer(settings, client: "describe", group: nil)
        defer { consumer.close() }
        let keys = TopicPartition(.keys, 0)
        guard try consumer.bounds(of: keys).upperBound > 0 else {
            throw LogError(.notProvisioned, "the topic keys does not name the log: provision it first")
        }
        consumer.follow(keys, from: 0)
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            for case .records(_, let records) in try consumer.poll(timeout: .milliseconds(200)) {
                guard let first = records.first else { continue }
                guard let id = Self.logID(of: first) else {
                    throw LogError(.misconfigured, "the first record of keys does not name a log")
                }
                return LogDescription(id: id, partitions: partitions)
            }
        }
        throw LogError(.unavailable, "the topic keys could not be read within 10 seconds")
    }

    private func countPartitions() throws(LogError) -> Int {
        let handle = try KafkaHandle(.producer, settings.producer, settings.names, client: "describe", events: 0)
        let counts = try handle.partitionCounts()
        var found: Int?
        for topic in Topic.allCases {
            guard let count = counts[topic] else { throw LogError(.notProvisioned, "Kafka has no topic \(topic.rawValue)") }
            if topic == .keys {
                guard count == 1 else {
                    throw LogError(.misconfigured, "the topic keys has \(count) partitions and must have one")
                }
            } else {
                guard found == nil || found == count else {
                    throw LogError(
                        .misconfigured, "the topic \(topic.rawValue) has \(count) partitions, others have \(found ?? 0)")
                }
                found = count
            }
        }
        try checkTimes(handle)
        return found ?? 0
    }

    /// Times are the log's own: those of a producer could come from a wrong clock, and Kafka would not say with which a record
    /// was appended.
    private func checkTimes(_ handle: KafkaHandle) throws(LogError) {
        for (topic, type) in handle.timestampTypes() where type != KafkaHandle.stampedByLog {
            throw LogError(
                .misconfigured,
                "the topic \(topic.rawValue) has message.timestamp.type=\(type) and must have \(KafkaHandle.stampedByLog)")
        }
    }

    // MARK: Provisioning

    /// Creates the topics that are missing and gives the log its id. `replicas` 0 takes what the brokers bear: 3 with a
    /// minimum of 2 in sync where there are three, else 1. Fails with `.misconfigured` where what is there differs.
    public func provision(partitions: Int, replicas: Int = 0) throws(LogError) {
        let handle = try KafkaHandle(.producer, settings.producer, settings.names, client: "provision", events: 0)
        let brokers = try handle.brokerCount()
        let replicas = replicas > 0 ? replicas : (brokers >= 3 ? 3 : 1)
        let counts = try handle.partitionCounts()
        var missing: [(topic: Topic, partitions: Int)] = []
        for topic in Topic.allCases {
            let wanted = topic.partitions(of: partitions)
            if let count = counts[topic] {
                guard count == wanted else {
                    throw LogError(
                        .misconfigured, "the topic \(topic.rawValue) has \(count) partitions and should have \(wanted)")
                }
            } else {
                missing.append((topic, wanted))
            }
        }
        if !missing.isEmpty { try handle.create(missing, replicas: replicas) }
        try waitForTopics(handle)
        try checkTimes(handle)
        try nameLog(partitions)
    }

    /// Until the brokers know all topics.
    private func waitForTopics(_ handle: KafkaHandle) throws(LogError) {
        let deadline = ContinuousClock.now + .seconds(15)
        while true {
            let counts = try handle.partitionCounts()
            if Topic.allCases.allSatisfy({ counts[$0] != nil }) { return }
            guard ContinuousClock.now < deadline else {
                throw LogError(.unavailable, "the new topics did not appear within 15 seconds")
            }
            KafkaThread.rest(.milliseconds(100))
        }
    }

    /// Two that provision at once may both write a name; the first one stands.
    private func nameLog(_ partitions: Int) throws(LogError) {
        let consumer = try KafkaConsumer(settings, client: "provision", group: nil)
        defer { consumer.close() }
        guard try consumer.bounds(of: TopicPartition(.keys, 0)).upperBound == 0 else { return }
        let producer = try KafkaProducer(settings, client: "provision")
        defer { producer.close() }
        let value: JSON = ["log": .string(Base64URL.encode(Random.bytes(16))), "partitions": .integer(Int64(partitions))]
        let outcome = producer.appendAndWait(
            OutgoingRecord(
                partition: TopicPartition(.keys, 0), key: [],
                headers: [
                    Header(HeaderName.specVersion, "1.0"), Header(HeaderName.id, MessageID.random().text),
                    Header(HeaderName.type, Self.provisioned), Header(HeaderName.source, "/provision"),
                    Header(HeaderName.contentType, "application/json"),
                ], value: value.serialized()))
        if case .failure(let error) = outcome { throw error }
    }

    static let provisioned = "latchkey.log.provisioned.v1"

    private static func logID(of record: Record) -> [UInt8]? {
        guard record.header(HeaderName.type) == Array(provisioned.utf8), let json = try? JSON.parse(record.value) else {
            return nil
        }
        return json["log"]?.string.flatMap(Base64URL.decode)
    }
}
