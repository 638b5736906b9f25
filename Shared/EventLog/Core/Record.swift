public import EventSchema

/// A header of a record, in Kafka's form: a UTF-8 name and bytes.
public struct Header: Hashable, Sendable {
    public var name: String
    public var value: [UInt8]

    public init(_ name: String, _ value: [UInt8]) {
        self.name = name
        self.value = value
    }

    public init(_ name: String, _ value: String) { self.init(name, Array(value.utf8)) }
}

/// A record on its way into the log. The partition is explicit: the key decides it, through `Partitioner`, before the
/// chain hashes it.
public struct OutgoingRecord: Hashable, Sendable {
    public var partition: TopicPartition
    public var key: [UInt8]
    public var headers: [Header]
    public var value: [UInt8]

    public init(partition: TopicPartition, key: [UInt8], headers: [Header], value: [UInt8]) {
        self.partition = partition
        self.key = key
        self.headers = headers
        self.value = value
    }
}

extension OutgoingRecord {
    /// The largest value of a record, in bytes, in every log.
    public static let maximumValue = 1 << 20
    /// The most that a record's key, header names and header values may have together, in bytes.
    public static let maximumHeaders = 1 << 16

    /// Why no log can ever take this record; `nil` if it fits.
    public var rejection: LogError? {
        guard value.count <= Self.maximumValue else {
            return LogError(.rejected, "a record for \(partition) has \(value.count) bytes")
        }
        let rest = headers.reduce(key.count) { $0 + $1.name.utf8.count + $1.value.count }
        guard rest <= Self.maximumHeaders else {
            return LogError(.rejected, "a record for \(partition) has \(rest) bytes of key and headers")
        }
        return nil
    }
}

/// A record as it stands in the log.
public struct Record: Hashable, Sendable {
    public var partition: TopicPartition
    public var offset: Int64
    /// When the log appended it, by the log's clock.
    public var time: Timestamp
    public var key: [UInt8]
    public var headers: [Header]
    public var value: [UInt8]

    public init(partition: TopicPartition, offset: Int64, time: Timestamp, key: [UInt8], headers: [Header], value: [UInt8]) {
        self.partition = partition
        self.offset = offset
        self.time = time
        self.key = key
        self.headers = headers
        self.value = value
    }

    /// The first header of this name.
    public func header(_ name: String) -> [UInt8]? { headers.first { $0.name == name }?.value }

    /// Whether this is what became of a record that was appended.
    func isCopy(of record: OutgoingRecord) -> Bool {
        value == record.value && key == record.key && headers == record.headers && partition == record.partition
    }
}
