internal import CKafka
package import EventLog
package import EventSchema

/// librdkafka's cluster in memory, which speaks Kafka's protocol on loopback: for tests where there is no Kafka. It knows no
/// times, keeps 5 MB of each partition, and creates no topics on request.
package final class KafkaMockCluster: Sendable {
    private let handle: KafkaHandle
    package let bootstrapServers: String

    /// Starts a cluster with the topics of one log, which is still to be provisioned.
    package init(brokers: Int = 1, partitions: Int, prefix: String = "") throws(LogError) {
        let handle = try KafkaHandle(
            .producer, ["test.mock.num.brokers": String(brokers)], TopicNames(prefix: prefix), client: "mock", events: 0)
        guard let cluster = rd_kafka_handle_mock_cluster(handle.pointer), let servers = rd_kafka_mock_cluster_bootstraps(cluster)
        else { throw LogError(.unavailable, "librdkafka started no cluster") }
        self.handle = handle
        bootstrapServers = String(cString: servers)
        for topic in Topic.allCases {
            let code = rd_kafka_mock_topic_create(
                cluster, handle.names.name(topic), Int32(topic.partitions(of: partitions)), Int32(min(brokers, 3)))
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw LogError(kafka: code, "creating the topic \(topic.rawValue)") }
        }
    }

    /// Moves a partition to another broker, 1-based.
    package func setLeader(of partition: TopicPartition, to broker: Int) {
        let name = handle.names.name(partition.topic)
        rd_kafka_mock_partition_set_leader(
            rd_kafka_handle_mock_cluster(handle.pointer), name, Int32(partition.partition), Int32(broker))
    }

    /// From now on the partition is read from this broker, 1-based, which says that it ends there.
    package func setReader(of partition: TopicPartition, to broker: Int, endingAt end: Int64) {
        let cluster = rd_kafka_handle_mock_cluster(handle.pointer)
        let name = handle.names.name(partition.topic)
        rd_kafka_mock_partition_set_follower_wmarks(cluster, name, Int32(partition.partition), 0, end)
        rd_kafka_mock_partition_set_follower(cluster, name, Int32(partition.partition), Int32(broker))
    }

    /// Ends a broker's connections and takes no new ones, until it is up again.
    package func setBroker(_ broker: Int, isUp: Bool) {
        let cluster = rd_kafka_handle_mock_cluster(handle.pointer)
        if isUp {
            rd_kafka_mock_broker_set_up(cluster, Int32(broker))
        } else {
            rd_kafka_mock_broker_set_down(cluster, Int32(broker))
        }
    }

    /// Why a broker does not take records.
    package enum Refusal: Sendable {
        /// Another one leads the partition.
        case notLeader
        /// It has seen their number before.
        case duplicate
        /// The number before theirs is missing: where nothing is, the producer breaks.
        case outOfOrder
    }

    /// The next requests to append are refused, each for one of these reasons, or taken, and those after them are taken.
    package func refuseAppends(_ refusals: [Refusal?]) {
        let codes = refusals.map { refusal in
            switch refusal {
            case nil: RD_KAFKA_RESP_ERR_NO_ERROR
            case .notLeader: RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION
            case .duplicate: RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER
            case .outOfOrder: RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER
            }
        }
        let cluster = rd_kafka_handle_mock_cluster(handle.pointer)
        rd_kafka_mock_clear_request_errors(cluster, Self.produceRequest)
        rd_kafka_mock_push_request_errors_array(cluster, Self.produceRequest, codes.count, codes)
    }

    /// Its number in Kafka's protocol.
    private static let produceRequest: Int16 = 0
}
