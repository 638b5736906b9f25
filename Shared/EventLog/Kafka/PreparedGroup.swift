internal import CKafka
internal import EventLog
internal import EventSchema

/// Records of one partition that are ready for librdkafka, so that it gets all of them within microseconds: its thread sends what it
/// finds, and a straggler would need a request of its own.
struct PreparedGroup: ~Copyable {
    private struct Entry {
        let record: OutgoingRecord
        let headers: OpaquePointer
        let opaque: UnsafeMutableRawPointer
    }

    private let partition: TopicPartition
    private var entries: [Entry] = []

    init(of partition: TopicPartition) { self.partition = partition }

    /// - Parameter opaque: what its message carries.
    /// - Returns: false where there is no memory: the record is not in the group then.
    mutating func add(_ record: OutgoingRecord, opaque: UnsafeMutableRawPointer) -> Bool {
        guard let headers = rd_kafka_headers_new(record.headers.count) else { return false }
        for header in record.headers {
            header.value.withUnsafeBytes { bytes in
                _ = rd_kafka_header_add(headers, header.name, -1, bytes.baseAddress, bytes.count)
            }
        }
        entries.append(Entry(record: record, headers: headers, opaque: opaque))
        return true
    }

    /// Hands all of them over. `refused` is told what a record that librdkafka did not take carries, and why.
    consuming func produce(on handle: KafkaHandle, refused: (UnsafeMutableRawPointer, rd_kafka_resp_err_t) -> Void) {
        // Nothing that takes time may lie between the first and the last.
        let codes = handle.names.withName(of: partition.topic) { name in
            entries.map { entry in
                entry.record.key.withUnsafeBytes { key in
                    entry.record.value.withUnsafeBytes { value in
                        latchkey_produce(
                            handle.pointer, name, Int32(partition.partition), key.baseAddress, key.count, value.baseAddress,
                            value.count, entry.headers, entry.opaque)
                    }
                }
            }
        }
        for (entry, code) in zip(entries, codes) where code != RD_KAFKA_RESP_ERR_NO_ERROR {
            rd_kafka_headers_destroy(entry.headers)
            refused(entry.opaque, code)
        }
    }
}
