/// How to reach Kafka, and any property of librdkafka.
public struct KafkaSettings: Sendable {
    /// `host:port`, comma-separated.
    public var bootstrapServers: String
    /// Properties by librdkafka's names, set last: for all handles.
    public var properties: [String: String]
    /// Stands before the name of every topic and group.
    public var prefix: String

    public init(bootstrapServers: String, properties: [String: String] = [:], prefix: String = "") {
        self.bootstrapServers = bootstrapServers
        self.properties = properties
        self.prefix = prefix
    }

    /// Properties from variables such as `LATCHKEY_KAFKA_SASL_USERNAME`, by the rest of their names: in lower case, with dots.
    /// `PREFIX` is no property but Latchkey's own.
    public init(variables: [String: String]) {
        var properties: [String: String] = [:]
        for (name, value) in variables where name != "PREFIX" { properties[name.lowercased().replacing("_", with: ".")] = value }
        self.init(
            bootstrapServers: properties.removeValue(forKey: "bootstrap.servers") ?? "", properties: properties,
            prefix: variables["PREFIX"] ?? "")
    }

    var names: TopicNames { TopicNames(prefix: prefix) }

    private var common: [String: String] {
        [
            "bootstrap.servers": bootstrapServers,
            "socket.nagle.disable": "true",
            "socket.keepalive.enable": "true",
            "reconnect.backoff.ms": "50",
            "reconnect.backoff.max.ms": "1000",
            "topic.metadata.refresh.interval.ms": "10000",
            "log.connection.close": "false",
            "api.version.request": "true",
        ]
    }

    /// Idempotent, nothing waits to fill a batch, and what cannot be delivered in a few seconds fails.
    var producer: [String: String] {
        common.merging([
            "enable.idempotence": "true", "acks": "all", "linger.ms": "0", "message.timeout.ms": "5000", "retry.backoff.ms": "20",
            "partitioner": "murmur2_random", "message.max.bytes": "2000000", "queue.buffering.max.messages": "1000000",
        ]) { $1 }.merging(properties) { $1 }
    }

    /// A reader of partitions that it chooses itself, which keeps the positions of a group, apart from the group's members.
    func reader(of group: String?) -> [String: String] {
        common.merging([
            "group.id": prefix + (group.map { $0 + ".positions" } ?? "latchkey-reader"), "enable.auto.commit": "false",
            "enable.auto.offset.store": "false",
            "auto.offset.reset": "error", "enable.partition.eof": "true", "fetch.wait.max.ms": "100",
            "fetch.error.backoff.ms": "20", "fetch.min.bytes": "1", "isolation.level": "read_uncommitted",
            "queued.min.messages": "10000", "queued.max.messages.kbytes": "16384", "fetch.message.max.bytes": "2000000",
        ]) { $1 }.merging(properties) { $1 }
    }

    /// A member of a group: it learns its share and commits positions, and reads nothing.
    func member(of group: String) -> [String: String] {
        common.merging([
            "group.id": prefix + group, "enable.auto.commit": "false", "enable.auto.offset.store": "false",
            "partition.assignment.strategy": "range", "session.timeout.ms": "6000", "heartbeat.interval.ms": "1000",
            "max.poll.interval.ms": "10000", "auto.offset.reset": "latest",
        ]) { $1 }.merging(properties) { $1 }
    }
}
