internal import CKafka
internal import EventSchema
internal import Glibc

/// A list of partitions with offsets, as librdkafka takes and gives it.
struct PartitionList: ~Copyable {
    private let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    private let names: TopicNames

    init(_ partitions: some Sequence<TopicPartition>, _ names: TopicNames) {
        self.names = names
        pointer = rd_kafka_topic_partition_list_new(8)
        for partition in partitions {
            _ = rd_kafka_topic_partition_list_add(pointer, names.name(partition.topic), Int32(partition.partition))
        }
    }

    init(_ offsets: [TopicPartition: Int64], _ names: TopicNames) {
        self.init(offsets.keys, names)
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

    private func partition(_ element: rd_kafka_topic_partition_t) -> TopicPartition? {
        element.topic.flatMap { names.topic($0) }.map { TopicPartition($0, Int(element.partition)) }
    }

    subscript(index: Int) -> (partition: TopicPartition?, offset: Int64, metadata: String?, error: rd_kafka_resp_err_t) {
        let element = pointer.pointee.elems[index]
        return (partition(element), element.offset, element.metadataText, element.err)
    }
}

extension rd_kafka_topic_partition_t {
    var metadataText: String? {
        guard let metadata, metadata_size > 0 else { return nil }
        return String(decoding: UnsafeRawBufferPointer(start: metadata, count: metadata_size), as: UTF8.self)
    }
}
