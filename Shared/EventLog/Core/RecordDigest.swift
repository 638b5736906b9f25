internal import Crypto
internal import EventSchema

/// The bytes over which records are hashed and authenticated: everything that the writer decides, each part behind its
/// length, so that no two records share them.
enum RecordDigest {
    static func canonical(_ partition: TopicPartition, key: [UInt8], headers: [Header], value: [UInt8], withMAC: Bool) -> [UInt8]
    {
        var bytes: [UInt8] = []
        let topic = partition.topic.rawValue.utf8
        bytes.reserveCapacity(64 + key.count + value.count + headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + 8 })
        append(topic, to: &bytes)
        appendLength(partition.partition, to: &bytes)
        append(key, to: &bytes)
        let counted = withMAC ? headers.count : headers.count(where: { $0.name != HeaderName.mac })
        appendLength(counted, to: &bytes)
        for header in headers where withMAC || header.name != HeaderName.mac {
            append(header.name.utf8, to: &bytes)
            append(header.value, to: &bytes)
        }
        append(value, to: &bytes)
        return bytes
    }

    private static func appendLength(_ length: Int, to bytes: inout [UInt8]) {
        let length = UInt32(length)
        bytes.append(UInt8(truncatingIfNeeded: length >> 24))
        bytes.append(UInt8(truncatingIfNeeded: length >> 16))
        bytes.append(UInt8(truncatingIfNeeded: length >> 8))
        bytes.append(UInt8(truncatingIfNeeded: length))
    }

    private static func append(_ part: some Collection<UInt8>, to bytes: inout [UInt8]) {
        appendLength(part.count, to: &bytes)
        bytes.append(contentsOf: part)
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
