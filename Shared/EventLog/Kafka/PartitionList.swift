internal import CKafka
internal import EventSchema
internal import Glibc

/// A list of partitions with offsets, as librdkafka takes and gives it.
struct PartitionList: ~Copyable {
    private let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(_ partitions: some Sequence<TopicPartition>) {
        pointer = rd_kafka_topic_partition_list_new(8)
        for partition in partitions { _ = rd_kafka_topic_partition_list_add(pointer, partition.topic.rawValue, Int32(partition.partition)) }
    }

    init(_ offsets: [TopicPartition: Int64]) {
        self.init(offsets.keys)
        for index in 0..<count {
            guard let partition = self[index].partition else { continue }
            pointer.pointee.elems[index].offset = offsets[partition] ?? 0
        }
    }

    /// The list lives as long as `body` runs; its pointer must not leave it.
    borrowing func withPointer<Result>(_ body: (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> Result) -> Result {
        body(pointer)
    }

    /// Gives an entry metadata, which the list frees.
    borrowing func setMetadata(_ text: String, at index: Int) {
        pointer.pointee.elems[index].metadata = UnsafeMutableRawPointer(strdup(text))
        pointer.pointee.elems[index].metadata_size = text.utf8.count
    }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }

    var count: Int { Int(pointer.pointee.cnt) }

    subscript(index: Int) -> (partition: TopicPartition?, offset: Int64, metadata: String?, error: rd_kafka_resp_err_t) {
        let element = pointer.pointee.elems[index]
        return (TopicPartition(element), element.offset, element.metadataText, element.err)
    }
}

extension TopicPartition {
    init?(_ element: rd_kafka_topic_partition_t) {
        guard let name = element.topic, let topic = Topic(rawValue: String(cString: name)) else { return nil }
        self.init(topic, Int(element.partition))
    }
}

extension rd_kafka_topic_partition_t {
    var metadataText: String? {
        guard let metadata, metadata_size > 0 else { return nil }
        return String(decoding: UnsafeRawBufferPointer(start: metadata, count: metadata_size), as: UTF8.self)
    }
}
