internal import Crypto
internal import EventSchema

/// The bytes over which records are hashed and authenticated: everything that the writer decides, each part behind its
/// length, so that no two records share them.
enum RecordDigest {
    static func canonical(_ partition: TopicPartition, key: [UInt8], headers: [Header], value: [UInt8], withMAC: Bool) -> [UInt8]
    {
        let topic = partition.topic.rawValue
        // Lengths of topic, key and value, the partition, and the number of headers.
        var size = 5 * 4 + topic.utf8.count + key.count + value.count
        var counted = 0
        for header in headers where withMAC || header.name != HeaderName.mac {
            counted += 1
            size += 8 + header.name.utf8.count + header.value.count
        }
        // Written twice for every record that is appended, and for every one that is read: no append may cost a check.
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
            var writer = Writer(buffer: UnsafeMutableRawBufferPointer(buffer))
            writer.write(topic)
            writer.write(length: partition.partition)
            writer.write(key)
            writer.write(length: counted)
            for header in headers where withMAC || header.name != HeaderName.mac {
                writer.write(header.name)
                writer.write(header.value)
            }
            writer.write(value)
            precondition(writer.count == size)
            initialized = size
        }
    }

    private struct Writer {
        let buffer: UnsafeMutableRawBufferPointer
        private(set) var count = 0

        mutating func write(length: Int) {
            buffer.storeBytes(of: UInt32(length).bigEndian, toByteOffset: count, as: UInt32.self)
            count += 4
        }

        mutating func write(_ bytes: [UInt8]) {
            bytes.withUnsafeBytes { write($0) }
        }

        mutating func write(_ text: String) {
            var text = text
            text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
        }

        private mutating func write(_ bytes: UnsafeRawBufferPointer) {
            write(length: bytes.count)
            UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
            count += bytes.count
        }
    }
}

extension OutgoingRecord {
    /// SHA-256 over the whole record, its MAC included: what the next event of a chain names.
    public var hash: [UInt8] {
        SHA256.hash(RecordDigest.canonical(partition, key: key, headers: headers, value: value, withMAC: true))
    }
}

extension Record {
    /// SHA-256 over the whole record, its MAC included: what the next event of a chain names.
    public var hash: [UInt8] {
        SHA256.hash(RecordDigest.canonical(partition, key: key, headers: headers, value: value, withMAC: true))
    }
}
